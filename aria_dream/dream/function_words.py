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
        able about above across actually after again against ago almost alone along already also although always
        among another anyone anything around ask asked asks away back bad became because become been before began
        begin begins begun behind being below best better between big both bring brings brought call called calls
        came cannot carried carry certain change changed check close come comes coming common cost could couple
        course days deal didn't different difficult does doesn't doing don't done down during each early easy eight
        either eleven else ends enough entire especially even ever every everyone everything exactly example eyes
        fact fall falls fast feel feels felt fifteen fill finally find finds first five follow followed following
        forty four fresh from front full further gave gets getting give given gives goes going gone good great half
        hand happen happened happens hard hardly have having hear heard held help helped helps here herself high
        himself hold holds hour hours however html http https idea important inches inside instead into isn't it's
        itself just keep keeping keeps kept kind kinds knew know known knows large last late later least leave
        leaves left length less let's letting life like likely line lines list little live lived lives local long
        longer look looks lose lost made main mainly make makes making many matter maybe mean means might mine
        minute minutes moment month months more morning most move moved moves much must myself name named names near
        nearly need needed needs neither never next nine nobody none normal note notes nothing number numbers often
        once ones only onto open opened order other others otherwise ours ourselves outside over page pages paid
        part parts pass passed past people perhaps person piece pieces place places plain point points possible
        pretty problem properly put puts question quite rather reach read ready real really reason remember rest
        result right room round rule runs said same says second seem seemed seems seen seven several shall should
        show shown shows side similar simple simply since single size slow slower slowly small some somebody someone
        something sometimes soon sort stand start started starts stay stays step steps still stood stop stopped
        stops story such sure take taken takes taking talk tell tells than that that's their theirs them themselves
        then there therefore these they thing things think thirty this those though thousand three through thus time
        times today together told took toward towards treated tried tries true trying turn turned turns twelve
        twenty twice type under understand unless until upon use used useful uses using usually very view wait
        waiting walk want wants watch week weeks well went were what whatever when where wherever whether which
        while whole whom whose will with within without won't word words work would write writes writing written
        wrong wrote year years yes yesterday yet young your yours yourself
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
