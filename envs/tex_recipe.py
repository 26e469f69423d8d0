"""What the offline TeX bundle is made of: Debian packages, the directories and suffixes kept of them, and the format."""

from __future__ import annotations


def _latex(names: str, *others: str) -> tuple[str, ...]:
    return (*(f"tex/latex/{name}" for name in names.split()), *others)


# Directories that we keep of each Debian package, in order: where two files share a name, the first one wins.
# A trailing `*` takes every directory there.
KEPT: dict[str, tuple[str, ...]] = {
    "texlive-latex-base": (
        "tex/latex/base",
        "tex/latex/*",
        "tex/generic/*",
        "bibtex/bst/*",
        "fonts/tfm/public/latex-fonts",
    ),
    "texlive-base": (
        "tex/latex/*",
        "tex/generic/*",
        "dvipdfmx",
        "fonts/cmap/dvipdfmx",
        "fonts/map/glyphlist",
        "fonts/map/dvipdfmx",
        "fonts/map/dvips/amsfonts",
        "fonts/tfm/public/amsfonts",
        "fonts/tfm/public/cm",
        "fonts/type1/public/amsfonts",
        "bibtex/bst/*",
    ),
    "texlive-latex-recommended": _latex(
        (
            "booktabs caption cite crop ctable eso-pic etoolbox everysel everyshi extsizes fancyvrb filehook float "
            "fontspec footnotehyper grffile index l3experimental lineno listings mathtools metalogo microtype ms "
            "newfloat parskip pdflscape ragged2e sansmath section sepnum setspace subfig textcase ucharcat underscore "
            "unicode-math xcolor xkeyval"
        ),
        "tex/generic/xkeyval",
    ),
    "texlive-latex-extra": _latex(
        (
            "adjustbox appendix changepage cleveref collectbox collcell csquotes datetime2 enumitem environ "
            "framed ifoddpage lastpage makecell mdframed multirow ncctools needspace newunicodechar orcidlink placeins "
            "preprint relsize tabularray tcolorbox threeparttable threeparttablex titlesec titling tocloft totpages trimspaces "
            "upquote varwidth wrapfig xifthen ifmtarg xpatch xstring xurl zref"
        ),
        "tex/generic/xstring",
    ),
    "texlive-science": (
        "tex/latex/algorithms",
        "tex/latex/algorithmicx",
        "tex/latex/algorithm2e",
        "tex/latex/siunitx",
    ),
    "texlive-pictures": (
        "tex/latex/pgf",
        "tex/generic/pgf",
        "tex/latex/pgfplots",
        "tex/generic/pgfplots",
    ),
    # hyperref measures its links in Zapf Dingbats: one metric file.
    "texlive-fonts-recommended": ("fonts/tfm/adobe/zapfding",),
    # "--", "``" and the like become dashes and quotes through this font mapping.
    "texlive-xetex": ("fonts/misc/xetex/fontmapping/base",),
    "fonts-lmodern": ("fonts/opentype/public/*",),
}
SUFFIXES = frozenset(
    ".sty .cls .tex .def .ltx .cfg .fd .clo .ldf .ini .bst .otf .pfb .tfm .map .txt .dat .dfu .opm .enc .tec".split()
)
# A bundle without these cannot build a page.
NEEDED = (
    "latex.ltx xelatex.ini article.cls geometry.sty fontspec.sty amsmath.sty booktabs.sty siunitx.sty tikz.sty "
    "algorithm.sty natbib.sty plainnat.bst hyperref.sty graphicx.sty microtype.sty xcolor.sty caption.sty longtable.sty "
    "array.sty lmroman10-regular.otf latinmodern-math.otf load-unicode-data.tex cmr10.tfm cmmi10.pfb pzdr.tfm tex-text.tec"
).split()
FORMAT = "\\input xelatex.ini\n"
# One language is enough, and loading patterns of sixty takes seconds.
LANGUAGES = "english hyphen.tex\n=usenglish\n=USenglish\n=american\n"
