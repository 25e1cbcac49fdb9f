"""Words of which two cannot hold of one thing at once, and words that tell one thing from its neighbour; lower case
without accents, several languages."""

from __future__ import annotations

from typing import Final

from aria_dream.words import words_in

_STATES = (
    """open opened offen geoffnet ouvert ouverte abierto abierta aperto aperta|closed shut geschlossen ferme fermee
    cerrado cerrada chiuso chiusa gesloten""",
    """enabled on activated aktiviert active activo aktiv actif|disabled off deactivated deaktiviert inactive inactivo
    inaktiv inactif""",
    """alive living lebt lebendig vivant vivante vivo viva|dead deceased tot verstorben mort morte muerto muerta morto
    morta""",
    "true wahr vrai vraie verdadero vero|false falsch faux fausse falso",
    """allowed permitted permits allows erlaubt zulassig autorise autorisee permis permitido permitida permesso
    toegestaan|forbidden prohibited banned disallowed forbids verboten interdit interdite prohibido prohibida vietato
    verboden""",
    """required mandatory compulsory obligatory requires erforderlich verpflichtend pflicht obligatoire obligatorio
    obligatoria obbligatorio verplicht|optional voluntary freiwillig facultatif facultative opcional facoltativo
    optioneel""",
    "supported supports unterstutzt|unsupported deprecated discontinued",
    """safe harmless edible sicher essbar ungiftig harmlos comestible seguro segura comestibile sicuro sicura veilig
    eetbaar ungefahrlich|dangerous unsafe harmful poisonous toxic giftig gefahrlich dangereux dangereuse toxique
    veneneux veneneuse peligroso peligrosa venenoso venenosa toxico toxica pericoloso pericolosa velenoso velenosa
    gevaarlijk""",
    """increases increase rises grows increased steigt wachst augmente aumenta|decreases decrease falls shrinks
    decreased declines sinkt schrumpft diminue disminuye""",
    """accepts accepted approved approves confirmed angenommen bestatigt genehmigt accepte confirme aceptado
    confirmado|rejects rejected declined refused cancelled canceled abgelehnt abgesagt refuse annule rechazado
    cancelado""",
    "public offentlich publique publico publica pubblico|private privat prive privee privado privada privato",
    "free kostenlos gratis gratuit gratuite gratuito|paid kostenpflichtig payant payante",
    """finished completed complete done resolved fertig abgeschlossen erledigt termine achieved|unfinished incomplete
    pending ongoing unresolved laufend unfertig""",
    "use uses using utilise|avoid avoids vermeide vermeiden eviter evitar",
    "visible shown sichtbar|hidden invisible versteckt",
    "legal legale|illegal unlawful",
    """succeeded succeeds passed passes works working functional intact repaired fonctionne funciona funziona
    funktioniert repariert|failed fails broken defective kaputt defekt casse cassee averiado averiada roto rota rotto
    rotta guasto guasta defect""",
    "single unmarried ledig|married verheiratet marie mariee casado casada",
    "synchronous|asynchronous",
    "mutable|immutable",
    "sweet|bitter",
    "nocturnal|diurnal",
    "herbivore|carnivore",
    "more mehr mas piu meer|less fewer weniger moins menos meno minder",
    "можно|нельзя",
    """empty emptied leer vide vides vacio vacia vacios vuoto vuota leeg|full filled voll plein pleine lleno llena pieno
    piena""",
    "locked verschlossen zugesperrt verrouille verrouillee vergrendeld|unlocked aufgesperrt deverrouille ontgrendeld",
    """wet damp nass feucht mouille mouillee humide mojado mojada humedo humeda bagnato bagnata umido umida nat|dry
    trocken sec seche seco seca secco secca asciutto asciutta droog""",
    """hot heiss chaud chaude caliente caldo calda heet|cold kalt froid froide frio fria freddo fredda koud""",
    """online|offline""",
    """manual manually manuell manuel manuelle|automatic automatically automatisch automatique automatico automatica""",
    """guilty schuldig coupable culpable colpevole|innocent unschuldig innocente inocente onschuldig""",
    """acidic acid sauer acide acido acida zuur|alkaline basisch alkalisch alcalin alcaline alcalino alcalina""",
    """liquid flussig liquide liquido liquida vloeibaar|solid gaseous fest gasformig solide gazeux solido solida
    gaseoso""",
    """clean sauber propre limpio limpia pulito pulita|dirty filthy schmutzig sucio sucia sporco sporca
    vuil""",
    """awake wach eveille despierto despierta sveglio sveglia wakker|asleep schlafend endormi endormie dormido dormida
    slapend""",
    """available verfugbar disponible disponibile beschikbaar|unavailable ausverkauft vergriffen indisponible agotado
    agotada esaurito esaurita uitverkocht""",
    "occupied besetzt occupe occupee ocupado ocupada occupato occupata bezet|vacant unoccupied",
    "blunt dull stumpf emousse romo|sharp scharf tranchant afilado affilato scherp",
    "deep tief profond profonde profundo profunda profondo diep|shallow flach seicht",
    "thick dick epais epaisse grueso gruesa spesso dik|thin dunn mince delgado delgada sottile dun",
    "convex konvex|concave konkav",
    "reversible|irreversible",
    "renewable erneuerbar|nonrenewable fossil",
    "negative negativ negatif negativo negativa|positive positiv positif positivo positiva",
    "flammable brennbar|fireproof nonflammable feuerfest",
    "opaque undurchsichtig|transparent durchsichtig",
    "открыт открыта открыто открыты|закрыт закрыта закрыто закрыты",
    "пуст пустой пустая пустое|полон полный полная полное",
    "otwarty otwarta otwarte|zamkniety zamknieta zamkniete",
    "pusty pusta puste|pelny pelna pelne",
    "空的|满的",
    "安全|危险",
    "干燥|潮湿",
    "免费|收费",
    "开放|关闭",
    "允许|禁止",
    "有效|无效",
    "必须|可选",
    "公开|私有",
)  # fmt: skip
STATES: Final = {
    word: (number, side)
    for number, row in enumerate(_STATES)
    for side, words in enumerate(row.split("|"))
    for word in words.split()
}
"""Word to its pair and its side: two claims of one subject on two sides cannot both hold."""
CONTRASTS: Final = words_in(
    """first second third fourth last next previous north south east west northern southern eastern western left right
    old new upper lower top bottom male female men women boys girls morning evening afternoon night summer winter
    spring autumn inner outer front back early late before after input output client server read write min max minimum
    maximum older newer former latter big small large little primary secondary internal external adult adults child
    children indoor outdoor weekday weekdays weekend weekends daily weekly monthly yearly annual local remote staging
    production dev test erste ersten erster zweite zweiten zweiter dritte dritten letzte letzten nachste nachsten alte
    alten alter neue neuen neuer norden suden osten westen nordliche sudliche linke rechte links rechts obere untere
    morgens abends sommer winter fruhling herbst manner frauen jungen madchen innere aussere grosse grossen kleine
    kleinen vor nach taglich wochentlich premier premiere deuxieme troisieme dernier derniere prochain nord sud ouest
    gauche droite ancien ancienne nouveau nouvelle haut bas hommes femmes matin soir ete hiver grand grande petit
    petite primero primera segundo segunda tercero ultimo ultima norte sur oeste izquierda derecha viejo nuevo nueva
    antiguo hombres mujeres manana tarde noche verano invierno"""
)
"""Words that tell one thing from its neighbour: claims that do not share them speak of two things."""
BEGINNINGS: Final = words_in(
    """born birth founded established created launched opened opens begins began begin starts started joined arrived
    arrives arrival departs built introduced adopted published married invented geboren gegrundet eroffnet offnet
    beginnt begann gebaut erschienen naissance nee ne fonde fondee ouvre ouvert commence commenca nacio nacido nacida
    fundado fundada empieza comienza abre inaugurado nato nata fondato fondata inizia apre geboren opgericht opent
    begint"""
)
ENDINGS: Final = words_in(
    """died death dies dissolved abolished closed closes ended ends end expires expired left leaves finished demolished
    retired discontinued divorced deadline due starb gestorben tod aufgelost geschlossen schliesst endet endete
    abgerissen verliess mort morte deces ferme finit termine murio muerte fallecio cierra termina morto chiude finisce
    overleden stierf sluit eindigt gesloopt"""
)
"""Of one thing both have their day: what begins it and what ends it are two claims."""
