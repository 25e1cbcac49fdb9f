"""Words that say how, not what: never named as what two notes have in common.

Only the frequent ones of four letters and more (shorter words are never named), in the languages of the shipped model
that write words with spaces. The vault's own frequencies catch the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_BY_LANGUAGE: Final = {
    "en": """
        about above across actually after again against almost alone along already also although always among
        another anyone anything around away back became because become been before behind being below best better
        between both came cannot certain come comes could didn't does doesn't doing done don't down during each
        either else enough even ever every everyone everything fact find first five four from full further gave gets
        getting give given gives goes going gone good great half hand hardly have having here herself himself
        however inside instead into isn't it's itself just keep keeps kept kind knew know known knows last late
        later least left less like likely little long look looks made mainly make makes making many maybe mean means
        might mine more most much must myself near nearly need needs neither never next nobody none nothing often
        once ones only onto other others otherwise ours ourselves over perhaps places put quite rather really right
        said same says second seem seemed seems seen several shall should since small some someone something
        sometimes soon still such sure take taken takes taking than that that's their theirs them themselves then
        there therefore these they thing things think this those though three through thus time times today together
        told took toward towards turn turned turns twice under unless until upon used using usually very want wants
        well went were what whatever when where wherever whether which while whole whom whose will with within
        without won't word words work would year years your yours yourself
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
