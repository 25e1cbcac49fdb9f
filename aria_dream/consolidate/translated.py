"""Claims of one thing in two languages that differ in a number or a date.

Most words of another language say nothing here, so both claims must be understood whole: every word of content is the
same name in both, or one of the few things that notes count and measure, and those are the same too. What has one word
more is another claim.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.quantities import Quantity, days_differ, differ, stem

if TYPE_CHECKING:
    from aria_dream.consolidate.claims import Claim

_ROWS: Final = (
    # what is measured
    "high tall height hoch hohe haut haute hauteur altura alto alta altezza hoog hoogte",
    "long length lang lange longue longueur longitud largo larga lungo lunga lunghezza lengte",
    "wide width breit breite largeur ancho ancha anchura larghezza breed breedte",
    "deep depth tief tiefe profond profonde profondeur profundo profunda profundidad profondo profonda diep diepte",
    "weigh weighs weight wiegt gewicht pese poids pesa peso weegt",
    "cost costs price kostet kosten preis coute coutent prix cuesta cuestan precio costa prezzo kost prijs",
    "measures misst mesure mide misura",
    "population bevolkerung einwohnerzahl poblacion popolazione bevolking",
    "area flache superficie oppervlakte",
    "capacity kapazitat fassungsvermogen capacite capacidad capacita capaciteit",
    "salary gehalt salaire salario stipendio salaris",
    "fee dues beitrag gebuhr cotisation cuota quota contributie",
    "rent miete loyer alquiler affitto huur",
    "budget presupuesto bilancio begroting",
    "distance entfernung distancia distanza afstand",
    "temperature temperatur temperatura temperatuur",
    # what is counted
    "passengers passagiere passagers pasajeros passeggeri passagiers passageiros",
    "inhabitants residents einwohner habitants habitantes abitanti inwoners",
    "employees staff mitarbeiter angestellte beschaftigte employes empleados dipendenti werknemers medewerkers",
    "pages seiten paginas pagine",
    "rooms zimmer chambres pieces habitaciones stanze camere kamers",
    "seats sitze sitzplatze sieges asientos posti zitplaatsen",
    "students pupils schuler eleves etudiants alumnos estudiantes alunni leerlingen",
    "members mitglieder membres miembros socios membri leden",
    "storeys floors stockwerke etagen etages pisos plantas piani verdiepingen",
    "steps stairs stufen marches escalones gradini treden",
    "books bucher livres libros libri boeken livros",
    "children kinder enfants ninos hijos bambini figli kinderen",
    "people persons personen leute personnes personas persone mensen",
    "islands inseln iles islas isole eilanden",
    "languages sprachen langues idiomas lingue talen",
    "countries lander pays paises paesi landen",
    "cities stadte villes ciudades citta steden",
    "beds betten lits camas letti bedden",
    "moons monde lunes lunas lune manen",
    # what happens once
    "born birth geboren naissance nacio nacido nacida nato nata",
    "died death starb gestorben murio muerte overleden stierf",
    "founded gegrundet fonde fondee fondata fondato fundada fundado opgericht",
    "built gebaut erbaut construit construite construido construida costruito costruita gebouwd",
    "published veroffentlicht erschienen publie publiee publicado publicada pubblicato pubblicata gepubliceerd",
    "invented erfunden invente inventado inventato uitgevonden",
    "discovered entdeckt decouvert descubierto scoperto ontdekt",
    # what is done
    "carries transports transportiert transporte transporta trasporta vervoert",
    "opens offnet ouvre abre apre opent",
    "closes schliesst ferme cierra chiude sluit",
    "begins starts beginnt commence empieza comienza inizia begint",
    "ends endet finit termina finisce eindigt",
    "lasts takes dauert dure dura duurt",
    "boils siedet bout hierve bolle",
    "melts schmilzt funde fonde smelt",
    "contains holds enthalt fasst contient contiene bevat",
    "counts zahlt compte cuenta conta telt",
    "pays zahlt paie paga betaalt",
    "needs braucht necesita",
    "lives wohnt lebt vit vive woont",
    # how often
    "month monat monatlich mois mensuel mes mensual mese maand monthly",
    "year jahr jahrlich annee anuel anual anno annuo jaar yearly annual",
    "week woche wochentlich semaine semana settimana weekly",
    "day tag taglich jour dia giorno dag daily",
    "hour stunde heure hora ora uur",
    "night nacht nuit noche notte",
    # what it is
    "river fluss fleuve riviere rio fiume rivier",
    "lake lac lago",
    "mountain berg montagne montana",
    "tower turm tour torre toren",
    "castle schloss burg chateau castillo castello kasteel",
    "bridge brucke pont puente ponte brug",
    "school schule ecole escuela scuola",
    "museum musee museo",
    "library bibliothek bibliotheque biblioteca bibliotheek",
    "church kirche eglise iglesia chiesa kerk",
    "canal kanal canale kanaal",
    "ship boat schiff boot bateau navire barco nave barca schip",
    "train zug tren treno trein",
    "company firma unternehmen entreprise empresa azienda bedrijf",
    "project projekt projet proyecto progetto",
    "server serveur servidor",
    "contract vertrag contrat contrato contratto",
    "hut hutte cabane cabana capanna",
    "house haus maison casa huis",
    "tunnel tunel galleria",
    "tree baum arbre arbol albero boom",
)


def _things() -> dict[str, int]:
    """Stem to the number of its row; what stands for two things is left out."""
    found: dict[str, set[int]] = {}
    for number, row in enumerate(_ROWS):
        for word in row.split():
            found.setdefault(stem(word), set()).add(number)
    return {word: next(iter(rows)) for word, rows in found.items() if len(rows) == 1}


_THINGS: Final = _things()


def in_every_language(term: str) -> str:
    """A term under a name that it has in every language; itself where it is not known."""
    return f"#{_THINGS[term]}" if term in _THINGS else term


def counted_thing(dimension: str) -> str:
    """The dimension of a count under a name that it has in every language; itself where it is not known."""
    kind, _, noun = dimension.partition(" ")
    return f"{kind} {in_every_language(noun)}" if kind == "count" else dimension


def differ_in_two_languages(one: Claim, two: Claim) -> str | None:
    """`number` or `date` where two claims say the same in two languages but for that one thing; else None."""
    if not (one.measured.quantities or one.measured.days):
        return None
    if not _plain(one) or not _plain(two) or one.is_possible != two.is_possible or one.states != two.states:
        return None
    ours, theirs = _understood(one), _understood(two)
    if ours != theirs or not ours[0] or not _are_named(one, two, ours[0]) or not _in_two_languages(one, two):
        return None
    numbers = _differing(one.measured.quantities, two.measured.quantities)
    days, others = one.measured.days, two.measured.days
    if numbers is None or len(days) != len(others) or one.measured.weekdays != two.measured.weekdays:
        return None
    dates = sum(days_differ(a, b) for a, b in zip(days, others, strict=True))
    if numbers + dates != 1 or (dates and not (one.tells_an_event and two.tells_an_event)):
        return None
    return "number" if numbers else "date"


def _plain(claim: Claim) -> bool:
    """Whether nothing in it needs more of the language than its words."""
    vague = claim.holds_of_some or claim.refers or claim.speaks_of_title or claim.contrasts
    return not vague and not claim.denials and not claim.measured.leads_with_day and not claim.measured.designations


def _understood(claim: Claim) -> tuple[frozenset[str], frozenset[int]]:
    """The words that are no known thing, and the known things."""
    words = {*claim.terms, *map(stem, claim.tokens)}  # `high` is a small word, `hoch` is none
    known = frozenset(_THINGS[word] for word in words if word in _THINGS)
    return frozenset(term for term in claim.terms if term not in _THINGS), known


def _are_named(one: Claim, two: Claim, words: frozenset[str]) -> bool:
    """Whether all of the words are names, in either."""
    return all(one.written[word][:1].isupper() or two.written[word][:1].isupper() for word in words)


def _in_two_languages(one: Claim, two: Claim) -> bool:
    nouns = [{each.dimension for each in claim.measured.quantities} for claim in (one, two)]
    return set(one.terms) != set(two.terms) or nouns[0] != nouns[1]


def _differing(ours: tuple[Quantity, ...], theirs: tuple[Quantity, ...]) -> int | None:
    """How many of the quantities differ; None where they do not measure the same."""
    first, second = (
        sorted((replace(each, dimension=counted_thing(each.dimension)) for each in each_side), key=_dimension)
        for each_side in (ours, theirs)
    )
    if Counter(map(_dimension, first)) != Counter(map(_dimension, second)):
        return None
    return sum(differ(a, b) for a, b in zip(first, second, strict=True))


def _dimension(quantity: Quantity) -> str:
    return quantity.dimension
