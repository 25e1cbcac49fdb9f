"""Words that say how, not what: never named as what two notes have in common.

Only frequent ones (words under four letters are never named), in the languages of the shipped model that write words
with spaces. The vault's own frequencies catch the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_BY_LANGUAGE: Final = {
    "en": """
        able about above across actually after again against ago allow allowed allows almost alone along already
        also although always among another anyone anything anyway appear appears around ask asked asks away back
        bad based became because become becomes becoming been before began begin beginning begins begun behind
        being below best better between beyond big both bring brings brought call called calls came cannot
        carried carry cause causes certain change changed check choose close come comes coming common considered
        contain contains cost could couple course create created creates current currently days deal decide
        decided default despite didn't different difficult does doesn't doing don't done down during each early
        easy eight either eleven else ends enough entire especially essentially even eventually ever every
        everyone everything exactly example exist exists expect explain explained eyes fact fall falls fast feel
        feels felt fifteen fill finally find finds first five follow followed following form forms forty four
        fresh from front full further gave general generally gets getting give given gives goes going gone good
        great half hand happen happened happens hard hardly have having hear heard held help helped helps here
        herself high himself hold holds hour hours however html http https idea important inches include
        includes including increase increasingly indeed inside instance instead into isn't it's itself just keep
        keeping keeps kept kind kinds knew know known knows large last late later least leave leaves left length
        less let's letting level life like likely line lines list little live lived lives local long longer look
        looks lose lost lots made main mainly make makes making many matter maybe mean means meant merely might
        mine minute minutes moment month months more morning most mostly move moved moves much must myself name
        named namely names near nearly necessary need needed needs neither never next nine nobody none normal
        note notes nothing number numbers obvious obviously occur occurs often once ones only onto open opened
        order other others otherwise ours ourselves outside over page pages paid part particular particularly
        parts pass passed past people perhaps person piece pieces place places plain point points possible
        pretty previous previously problem properly provide provided provides put puts question quickly quite
        rarely rather reach read ready real really reason recent recently regarding related relatively remember
        require required requires rest result right room round rule runs said same says second seem seemed seems
        seen sense separate serve serves sets seven several shall should show shown shows side significant
        similar simple simply since single size slightly slow slower slowly small some somebody someone
        something sometimes soon sort specific specifically stand start started starts stated stay stays step
        steps still stood stop stopped stops story such suggest suggests sure take taken takes taking talk tell
        tells term terms than that that's their theirs them themselves then there therefore these they thing
        things think thirty this those though thought thousand three through thus time times today together told
        took total toward towards treated tried tries true trying turn turned turns twelve twenty twice type
        types typically ultimately under understand unless until upon use used useful uses using usual usually
        various versus very view viewed wait waiting walk want wants watch ways week weeks well went were what
        whatever when where wherever whether which while whole whom whose widely will with within without won't
        word words work would write writes writing written wrong wrote year years yes yesterday yet young your
        yours yourself yourselves
    """,
    "de": """
        aber alle allem allen aller alles also andere anderen auch beim bereits bevor bisher damit dann daran darauf
        daraus darin darüber darum dass davon dazu denen denn deren deshalb dessen deutlich dich diese diesem diesen
        dieser dieses doch dort durch eben eher eigentlich eine einem einen einer eines einige einmal erst etwa
        etwas euch euer ganz gegen gegenüber gerade gibt gleich habe haben hatte hatten hier hinter ihre ihrem ihren
        ihrer immer indem jede jedem jeden jeder jedes jedoch jetzt kann kaum kein keine keinem keinen keiner können
        könnte lange lassen machen macht mann mehr mein meine meinem meinen meiner mich muss müssen nach nachdem
        neben nicht nichts noch nämlich oder ohne ruhig schon sehr sein seine seinem seinen seiner seit selbst sich
        sind sobald solche soll sollen sollte sondern sonst soweit statt trotz über überhaupt unser unsere unter
        viel viele vielleicht vom von vor während wann warum weil weiter welche welcher wenig wenn werden wieder
        will wird wirklich wohl wollen worden wurde wurden würde zwar zwischen zwei zum zur
    """,
    "fr": """
        ainsi alors après assez aucun aucune aussi autant autre autres avait avant avec avoir bien c'est car ceci
        cela celle celles celui cependant ceux chaque chez comme comment contre dans d'abord d'un d'une déjà depuis
        derrière dont donc elle elles encore entre était étaient être faire fait fois grand grande jamais jusqu
        jusque leur leurs lorsque mais même mêmes mieux moins notre nous parce parfois parmi pendant peut peuvent
        plus plusieurs plutôt pour pourquoi presque puis quand quel quelle quelque quelques qu'il qu'elle qu'on
        qu'un qu'une quoi rien sans selon sera serait seulement sont souvent sous suis surtout tandis tant tous tout
        toute toutefois toutes très trop vers voici voilà votre vous
    """,
    "es": """
        ahora algo alguien algún alguna algunas algunos antes aquel aquella aquello aquí aunque bajo bien cada casi
        como cómo contra cosa cosas cual cuál cuando cuándo desde después donde dónde durante ella ellas ello ellos
        entonces entre eran esas esos esta está estaba están estar estas este esto estos había hace hacer hacia
        hasta incluso luego menos mientras mismo misma mucha mucho muchos nada nadie ninguna ningún nosotros nuestra
        nuestro nunca otra otras otro otros para pero poca poco pocos porque pueden puede pues quien quién quienes
        según sería siempre sido siendo sino sobre solo sólo suele tampoco también tanto tener tiene tienen toda
        todas todavía todo todos unas unos usted vez veces
    """,
    "pt": """
        agora ainda algum alguma alguns além aqui assim até cada coisa coisas como contra dela dele deles depois
        desde dessa desse desta deste disso e então entre era essa esse esta este está estão eram fazer foi foram
        houve isso isto já mais mas mesmo mesma muita muito muitos nada nela nele nem nenhum nenhuma nessa nesse
        nesta neste nossa nosso nunca onde outra outras outro outros para pela pelas pelo pelos pode podem porque
        porquê quais qual quando quanto quase quem sempre sendo será seria seus somente sobre sozinho suas também
        tanto tem têm tendo tinha toda todas todo todos uma umas você vocês
    """,
    "it": """
        abbastanza adesso alla alle allo altra altre altri altro anche ancora avere aveva bene che chi ciascuno ciò
        come comunque con contro così cosa cui dagli dalla dalle dallo davvero degli della delle dello dentro dopo
        dove dovrebbe dunque durante ecco era erano essere fare fatto fino forse fosse fra già gli hanno infatti
        invece loro mai mentre meno mentre mio molta molte molti molto negli nella nelle nello nessun nessuna niente
        nostra nostro ogni ognuno oppure ora perché perciò però piuttosto poca poco poi prima proprio può possono
        qualche qualcosa quale quali quando quanto quasi quella quelle quelli quello questa queste questi questo
        quindi sempre senza sia sono sopra soprattutto sotto stata stato stesso stessa sua sue suo suoi tanto troppo
        tutta tutte tutti tutto un'altra verso volta volte
    """,
    "nl": """
        aan alleen alles altijd ander andere anders beide bijna binnen daar daarna daarom dan deze door echter eens
        eerst elke elkaar enkele geen goed haar hebben heeft heel hier hoe hun iedere iemand iets ieder jouw kan
        kunnen maar maken meer meest meestal men misschien moet moeten naar naast niet niets niemand nodig noch nog
        omdat onder onze ooit over overal reeds sinds soms steeds tegen tenzij terwijl tijdens toch toen tussen vaak
        vanaf veel verder voor vooral waar waarom wanneer want waren welke weer wel werd werden wordt worden zelf
        zelfs zich zijn zoals zonder zodat zou zouden zulke
    """,
    "pl": """
        albo ale aby będzie będą bardzo bez bowiem być była było były chyba choć ciągle coraz czasem często czyli
        dlaczego dlatego dopiero dzięki gdyby gdzie gdzieś inne innego innych jak jaka jakie jako jakiś jednak jego
        jeden jednym jest jeszcze jeśli jeżeli kiedy każda każde każdy która które którego której który których
        którym którzy lecz lub ludzie mają może można musi nadal nasz nawet nich nigdy niego niej niektóre nim oraz
        pod podczas pomiędzy ponieważ potem przed przede przez przy raczej razem również samo sobie swoje swój tak
        także tam tego tej temu ten tutaj tych tylko tym tymczasem wiele więc więcej właśnie wszystkie wszystko
        wśród zanim zawsze żaden żeby
    """,
    "ru": """
        более больше будет бывает быть весь вместе вроде всегда всего всех всё даже другие другой если есть ещё
        зачем затем здесь иногда каждый какой когда которая которое которые который кроме лишь между меня много
        может можно надо наше него некоторые нельзя нибудь никогда ничего однако около опять очень перед после потом
        потому почему почти просто против раньше сейчас себя снова совсем тебя также такая такие такой теперь тогда
        того тоже только уже хотя чего чтобы чтоб через этого этой этом этот эти
    """,
}

FUNCTION_WORDS: Final = frozenset(word for words in _BY_LANGUAGE.values() for word in words.split())

# Chinese is written without spaces, so there it is characters: those that part words wherever they stand, those that
# hang on to the word before or after them, and words of two and three that say how and not what.
_PARTING: Final = frozenset(
    "的了是們们這这那哪嗎吗呢吧啊也很都就與与及或而但且被把我你您他她它誰谁麼么沒没在則则若卻却並并雖虽該该此其之"
)
_HANGING_BEFORE: Final = frozenset(
    "以將将於于從从對对讓让給给再又才更最每各個个一不有到要會会可能用由因為为所使等和"
    "跟當当"
)
_HANGING_AFTER: Final = frozenset(
    "以將将於于從从對对讓让給给再又才更最每各個个一不到要可等和跟著着過过得地時时後后"
    "前上下中裡里內内來来去"
)
_CHINESE: Final = """
    可以 可能 能夠 能够 應該 应该 必須 必须 需要 如果 如何 因為 因为 因此 所以 雖然 虽然 然後
    然后 以及 以上 以下 以後 以后 以前 之後 之后 之前 其他 其實 其实 其中 任何 一些 一個 一个
    一下 一樣 一样 一定 一般 一起 一次 一種 一种 第一 第二 這樣 这样 那樣 那样 什麼 什么 怎麼
    怎么 為什 为什 所有 每個 每个 各種 各种 不同 不過 不过 不會 不会 不能 不要 還有 还有 只有
    只是 只要 已經 已经 正在 現在 现在 時候 时候 時間 时间 開始 开始 最後 最后 最近 非常 比較
    比较 更多 很多 許多 许多 對於 对于 關於 关于 由於 由于 根據 根据 通過 通过 透過 透过 使用
    進行 进行 提供 包括 例如 比如 以便 目前 直接 或者 並且 并且 而且 但是 無法 无法 沒有 没有
    有些 有時 有时 成為 成为 作為 作为 大概 找到 方式 可用 來自 来自 來說 来说 方法 問題 问题
    情況 情况 部分 內容 内容 更加 仍然 其餘 其余 甚至 完全 特別 特别 事情 東西 东西 地方
"""
_CHINESE_FUNCTION_WORDS: Final = frozenset(_CHINESE.split())


def split_at_function_words(run: str) -> list[str]:
    """The parts of a run of Chinese characters between those that only join words."""
    joined = "".join(" " if character in _PARTING else character for character in run)
    return joined.split()


def trimmed(piece: str) -> str:
    """`piece` without what hangs on to its ends; `""` where nothing worth naming is left."""
    if piece in _CHINESE_FUNCTION_WORDS:
        return ""
    start, end = 0, len(piece)
    while start < end and piece[start] in _HANGING_BEFORE:
        start += 1
    while end > start and piece[end - 1] in _HANGING_AFTER:
        end -= 1
    rest = piece[start:end]
    return rest if len(rest) >= 2 and rest not in _CHINESE_FUNCTION_WORDS else ""


_TELLING: Final = {
    language: frozenset(words.split())
    - {word for other, those in _BY_LANGUAGE.items() if other != language for word in those.split()}
    for language, words in _BY_LANGUAGE.items()
}
_LEAST_HITS: Final = 2


def language_of(words: Iterable[str]) -> str | None:
    """Which of the listed languages folded `words` are written in; None where too few tell."""
    seen = list(words)
    hits = {language: sum(word in telling for word in seen) for language, telling in _TELLING.items()}
    best = max(hits, key=lambda language: (hits[language], language))
    return best if hits[best] >= _LEAST_HITS else None
