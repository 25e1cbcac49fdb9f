"""The words that say that a secret stands beside them, in the languages of the shipped model and their neighbours.

Each group is an expression without groups of its own; `named` bounds it, so that no longer word is taken for it.
"""

from __future__ import annotations

import re
from typing import Final

_LETTER: Final = r"[A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u052f]"
"""Of a script that writes words apart."""


def named(latin: str, dense: str = "") -> str:
    """An expression for one of these words: `latin` ones with no letter before or behind, `dense` ones (Chinese,
    Japanese, Korean), which are written without spaces, anywhere."""
    bounded = rf"(?<!{_LETTER})(?:{latin})(?!{_LETTER})"
    return f"(?:{bounded}|{dense})" if dense else bounded


PASSWORD: Final = named(
    r"(?<=_)pass|(?:secret|security) answer|memorable word|sicherheitsantwort|кодовое слово|"
    r"pass(?:[- ]?phrase|code|wd)s?|"
    r"passwd|pwd|psw|pw|losungswort|zugangsw(?:ort|örter)|mots? de passe|mdp|contrase[ñn]as?|clave secreta|claves?|"
    r"senhas?|palavras?[- ]passe|parol[ae] d['’]ordine|has(?:ło|ła|lo)|"
    r"парол[ьяи]|hesl[oa]|l[öo]senord(?:en)?|adgangskoder?|kodeord|passord|salasanat?|jelsz[óo]|jelszavak|parolă|"
    r"şifre(?:ler)?|lozink[ae]|κωδικός(?: πρόσβασης)?|סיסמה|كلمة (?:المرور|السر)|पासवर्ड|mật khẩu|kata sandi",
    r"(?:passwor[dt]s?|passw(?:ö|oe)rter|kennw(?:ort|örter|oerter)s?|wachtwoord(?:en)?)(?![^\W\d_])|"
    r"密码|密碼|口令|パスワード|비밀번호|패스워드|비번",
)
PHRASE: Final = named(
    r"pass[- ]?phrase|(?:seed|recovery|backup|mnemonic|wallet)[ -](?:phrase|words)|mnemonic|"
    r"wiederherstellungs(?:phrase|wörter|satz)|phrase de (?:récupération|secours)|"
    r"frase (?:semilla|mnemotécnica|de recuperación|de recuperação|di recupero)|herstel(?:zin|woorden)|"
    r"fraza odzyskiwania|сид-фраза|фраза восстановления",
    r"助记词|助記詞|リカバリーフレーズ|シードフレーズ",
)
CODES: Final = named(
    r"(?:recovery|backup|rescue|one[- ]time|2fa) codes?|(?:2fa|mfa|totp) (?:backup|recovery)|"
    r"(?:wiederherstellungs|backup-|ersatz)codes?|"
    r"codes? de (?:secours|récupération)|códigos? de (?:recuperación|respaldo|recuperação|reserva)|"
    r"codici? di (?:recupero|backup)|herstelcodes?|kody (?:zapasowe|odzyskiwania)|"
    r"резервные коды|коды восстановления",
    r"恢复代码|备用码|リカバリーコード|バックアップコード",
)
TOKEN: Final = named(
    r"(?:[a-z]{2,16}[ _-]?)?(?:tokens?|secrets?|api[ _-]?keys?)|(?:access|account|shared[ _-]?access|private|secret|"
    r"licen[cs]e|encryption|signing|master|product)[ _-]?keys?|(?:client|shared)[ _-]?secret|authorization|"
    r"credentials?|geheimnis|zugangsdaten|identifiants?|credenciales|credenziali|parola",
    r"令牌|トークン",
)
_KEY: Final = (
    r"(?:pre-?shared |netzwerk|sicherheits)?-?(?:key|passkey|schlüssel|code|clé|cle|clave|chave|chiave|sleutel|klucz|"
    r"nyckel|nøgle|ключ|pass|psk|senha|contraseña|passwor[dt]|wachtwoord|hasło|пароль|mot de passe)"
)
_NET: Final = (
    r"wi[-\u2010\u2011 ]?fi|w-?lan|wpa[23]?(?:[-/](?:psk|wpa[23]))?|(?:guest |home )?network|router|вай-?фа[йя]"
)
WIFI: Final = named(
    rf"(?:{_NET})[ _-]?{_KEY}|{_KEY} (?:(?:of|for|the|de[lrs]?|du|da|do|di|van|het|til|от|sieci) ){{0,2}}(?:{_NET})|"
    r"wpa[23]?(?:-psk)?|psk|netzwerkschlüssel|network security key|"
    r"chiave di rete|clé (?:réseau|de sécurité)|clave de (?:la )?red|chave (?:de|da) rede|netwerksleutel",
    r"暗号化キー|网络密钥|セキュリティキー",
)
SECRET: Final = rf"(?:{WIFI}|{PASSWORD}|{PHRASE}|{CODES})"
_CODE: Final = (
    r"(?:codes?|códigos?|codici|codice|kod|код|combinations?|kombination|combinaison|combinación|combinação|combinazione|"
    r"combinatie|szyfr|шифр)"
)
_OF: Final = (
    r"(?:(?:(?:of|for|to|the|my|our|der|des|dem|den|die|das|vom|von|zum|zur|für|mein(?:em|er|es)?|unser(?:em|er|es)?|du|de|"
    r"la|le|del|el|para|do|da|della|dello|di|il|van|voor|het|do|od|от|для) ){1,3}(?:(?:de )?l['’])?|"
    r"(?:(?:de )?l['’]|dell['’]|all['’]))"
)
_LOCKED: Final = (
    r"(?:safe|vault|locker|padlock|lock|door|gate|alarm|garage|front door|keypad|"
    r"(?:credit|debit|bank) card|sim(?: card)?|"
    r"tür|haustür|tor(?:es|s)?|tresors?|safes|schloss(?:es)?|spinds?|alarmanlage|"
    r"porte|portail|coffre(?:-fort)?|cadenas|"
    r"alarme?|immeuble|caja fuerte|puerta|portal|candado|alarma|cofre|porta|portão|cadeado|cassaforte|portone|"
    r"lucchetto|allarme|kluis|deur|poort|slot|sejfu?|drzwi|bramy|alarmu|kłódki|сейфа?|двери|домофона|ворот|"
    r"сигнализации|замка)"
)
PIN: Final = named(
    r"pin(?:[- ]?(?:code|nummer|number))?|pukn?|cvv2?|cvc2?|geheimzahl|geheimnummer|"
    rf"(?:lock|safe|vault|locker)(?:['’]s)? combination|zahlenkombination|{_CODE} {_OF}{_LOCKED}|"
    r"(?:door|gate|alarm|entry|lock|safe|garage|keypad|access|security|unlock) ?code|"
    r"digicodes?|(?:tür|tor|haustür|alarm|safe|tresor|zugangs|entsperr|karten)[- ]?(?:code|pin)|"
    r"code (?:pin|secret|confidentiel|d['’](?:entrée|accès)|de (?:la porte|l['’]alarme|la carte))|"
    r"código (?:pin|secreto|de (?:acceso|la puerta|acesso|la alarma)|da porta|do alarme)|nip|"
    r"codice (?:pin|segreto|d['’]accesso|della porta|dell['’]allarme)|(?:toegangs|deur|alarm)code|"
    r"sicherheitscode|(?:karten)?prüfnummer|código de seguridad|"
    r"kod (?:pin|do (?:drzwi|bramy|alarmu))|(?:пин(?:-?код)?|код (?:двери|домофона|от двери|сигнализации))",
    r"(?:金庫|玄関|ドア|アラーム)の?(?:番号|コード)|(?:门|保险箱|保险柜)的?(?:号码|代码)|PIN码|PIN碼|PINコード|暗証番号|门禁码|取款密码",
)
"""Of digits alone."""
LOGIN: Final = named(
    r"log-?ins?|user ?/ ?pass(?:word)?|zugang(?:sdaten)?|anmeldung|identifiants?|credenziali|credentials|credenciales|"
    r"inloggen|логин|wi[-\u2010\u2011 ]?fi|w-?lan",
    r"账号|帐号|ログイン",
)
ACCOUNT: Final = named(
    r"user(?:name)?|account|benutzer(?:name)?|utilisateur|usuario|cuenta|utilizador|usuário|utente|"
    r"gebruiker(?:snaam)?|użytkownik|konto|ssid",
    r"アカウント|用户名",
)
NET: Final = named(r"wi[-\u2010\u2011 ]?fi|w-?lan|ssid|pass")
"""Beside which only what is plainly made up is a secret."""
"""What a name and a secret may follow, with a stroke between them."""
HASH: Final = (
    r"(?:sha|md)-?\d|hash|digest|sum$|checksum|commit|rev|etag|uid|guid|(?:^|[-_. ])id$|ref$|blob|tree|parent|"
    r"integrity|crc|oid|version|fingerprint|thumbprint|blake|cid$"
)
"""In the name of what is no secret, however random: what a content, a version or a thing is called by."""
IS: Final = (
    r"(?:is|was|ist|lautet|c['’]est|est|es|é|è|jest|to|brzmi|är|er|on|это)(?![^\W_])|は|是|为|為"
)
"""Verbs between a word and what it is."""
HINT: Final = re.compile(
    r"pass|pwd?\b|psw|kennw|losung|zugang|mdp|contrase|clave|senha|palavra|parol|wachtw|has[łl]|парол|hesl|senord|adgangs|"
    r"kodeord|salasan|jelsz|[şs]ifre|lozink|κωδικ|סיסמ|كلمة|पासवर्ड|mật|sandi|密|口令|パス|비밀|패스|비번|combination|answer|memorable|слово|"
    r"seed|recover|backup|mnemo|wallet|phrase|frase|fraza|фраза|herstel|助|シード|リカバリ|バックアップ|code|kody?\b|códig|combin|kombin|szyfr|шифр|"
    r"codic|令牌|トークン|token|secret|\bkey|[ _-]?keys?\b|authori|creden|identif|wi[-\u2010\u2011 ]?fi|w-?lan|wpa|"
    r"network|router|netzw|вай|psk|ssid|clé\b|cle\b|chave|chiave|sleutel|klucz|nyckel|nøgle|ключ|schlüssel|暗|网络|セキュ|\bpin|"
    r"[^\W\d_]pin\b|puk|cv[vc]|geheim|nip\b|пин|код|门|金庫|玄関|ドア|アラーム|保险|取款|log-?in|inlog|user|account|benutz|utilis|usu[aá]|cuenta|utili|"
    r"utente|gebruik|użytk|konto|логин|账|帐|ログ|アカ|用户|prüfnummer|anmeldung|curl|mysql|mongo|maria|--|bearer|sig|auth|code=",
    re.IGNORECASE,
)
"""In every line that holds one of these words, and in some others: elsewhere none of them need be looked for."""
_SAID_OF_IT = """
    abgelaufen above below błędne changed correct correcta correcte corretta empty errada expired falsa falsch faux
    forgotten fout geheim gone good hashed here hidden incorrect incorrecta incorrecte invalid juist kurz lang long
    lost missing needed none nötig oublié perdida perdu poprawne required richtig right safe sbagliata secret
    secreta secrète segreta short sicher stored strong tajne there unbekannt unknown vergessen vergeten weak wrong
"""
NO_VALUE: Final = frozenset(_SAID_OF_IT.split())
"""What is said of a password rather than what it is."""
