"""The world region of a country, in the groups of Table 7 of PersonaLens (arXiv 2506.09902). Pure.

The paper names the groups and not their countries. Here they follow the regions of the United Nations (M49): the United
States and the United Kingdom stand alone, and Western Asia with Iran is the Middle East.
"""

UNSAID = ("N/A", "Prefer not to say", "")

_COUNTRIES = {
    "US": "United States; United States of America",
    "UK": "United Kingdom",
    "Northern America": "Bermuda; Canada; Greenland",
    "Australia and New Zealand": "Australia; New Zealand",
    "Oceania": "Fiji; Kiribati; Marshall Islands; Micronesia; Nauru; Palau; Papua New Guinea; Samoa; Solomon Islands; "
    "Tonga; Tuvalu; Vanuatu",
    "Europe": "Albania; Andorra; Austria; Belarus; Belgium; Bosnia and Herzegovina; Bulgaria; Croatia; Czechia; "
    "Czech Republic; Denmark; Estonia; Faroe Islands; Finland; France; Germany; Gibraltar; Greece; Guernsey; Hungary; "
    "Iceland; Ireland; Isle of Man; Italy; Jersey; Kosovo; Latvia; Liechtenstein; Lithuania; Luxembourg; Malta; "
    "Moldova; Monaco; Montenegro; Netherlands; North Macedonia; Norway; Poland; Portugal; Romania; Russian Federation; "
    "Russia; San Marino; Serbia; Slovakia; Slovenia; Spain; Sweden; Switzerland; Ukraine",
    "Middle East": "Armenia; Azerbaijan; Bahrain; Cyprus; Georgia; Iran; Iraq; Israel; Jordan; Kuwait; Lebanon; Oman; "
    "Palestine; Qatar; Saudi Arabia; Syrian Arab Republic; Syria; Türkiye; Turkey; United Arab Emirates; Yemen",
    "Asia": "Afghanistan; Bangladesh; Bhutan; Brunei Darussalam; Brunei; Cambodia; China; Hong Kong; India; Indonesia; "
    "Japan; Kazakhstan; Korea; South Korea; Kyrgyzstan; Lao People's Democratic Republic; Laos; Macao; Malaysia; "
    "Maldives; Mongolia; Myanmar; Nepal; Pakistan; Philippines; Singapore; Sri Lanka; Taiwan; Tajikistan; Thailand; "
    "Timor-Leste; Turkmenistan; Uzbekistan; Viet Nam; Vietnam",
    "Africa": "Algeria; Angola; Benin; Botswana; Burkina Faso; Burundi; Cabo Verde; Cameroon; "
    "Central African Republic; Chad; Comoros; Congo; Côte d'Ivoire; Djibouti; "
    "Egypt; Equatorial Guinea; Eritrea; Eswatini; Ethiopia; Gabon; "
    "Gambia; Ghana; Guinea; Guinea-Bissau; Kenya; Lesotho; Liberia; Libya; Madagascar; Malawi; Mali; Mauritania; "
    "Mauritius; Morocco; Mozambique; Namibia; Niger; Nigeria; Rwanda; Sao Tome and Principe; Senegal; Seychelles; "
    "Sierra Leone; Somalia; South Africa; South Sudan; Sudan; Tanzania; Togo; Tunisia; Uganda; Zambia; Zimbabwe",
    "Latin America and the Caribbean": "Antigua and Barbuda; Argentina; Aruba; Bahamas; Barbados; Belize; Bolivia; "
    "Brazil; Cayman Islands; Chile; Colombia; Costa Rica; Cuba; Curaçao; Dominica; Dominican Republic; Ecuador; "
    "El Salvador; Grenada; Guatemala; Guyana; Haiti; Honduras; Jamaica; Mexico; Nicaragua; Panama; Paraguay; Peru; "
    "Puerto Rico; Saint Kitts and Nevis; Saint Lucia; Saint Vincent and the Grenadines; Suriname; "
    "Trinidad and Tobago; Uruguay; Venezuela",
}
_REGIONS = {country: region for region, countries in _COUNTRIES.items() for country in countries.split("; ")}


def find_region(country: str) -> str:
    """The region of a country by its English name, as `Korea, Republic of` or `Korea`; `Other` for one not known."""
    name = country.partition(",")[0].strip()
    return "Prefer not to say" if name in UNSAID else _REGIONS.get(name, "Other")
