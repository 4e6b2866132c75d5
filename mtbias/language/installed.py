"""Languages by ISO code, found through the entry-point group ``mtbias.languages``; and what such a
code is.
"""

from __future__ import annotations

import re

from mtbias.entry_points import called, installed, load, refuse
from mtbias.errors import UsageError, choices
from mtbias.language.definition import Language

GROUP = "mtbias.languages"


def get_language(code: str) -> Language:
    """The language registered under `code`.

    Raises:
        UsageError: nobody registers it; the message lists what is installed, and how to add one.
        PluginError: several distributions do, it fails to load, or it is not the language of that
            code.
    """
    known = installed(GROUP)
    if code not in known:
        # de-AT, German, and deu is like de
        suggestion = choices(re.split("[-_]", code)[0], known, called(GROUP))
        raise UsageError(
            f"no language {code!r} is installed; {suggestion};"
            " `mtbias languages new` drafts another"
        )
    language = load(GROUP, code, "language")
    if not isinstance(language, Language):
        raise refuse(
            GROUP,
            code,
            "language",
            f"expected a mtbias.plugin.Language, got {type(language).__name__}",
        )
    if language.code != code:
        raise refuse(GROUP, code, "language", f"it says that its code is {language.code!r}")
    return language


# Codes of languages: ISO 639-1, and ISO 639-3 for languages that have no code of two letters.

_ISO_639_1 = (
    "aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da "
    "de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy "
    "hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg "
    "li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or "
    "os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta "
    "te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
_ISO_639_3 = (
    "abq ace aii akk aln ang apu apy aqz arc arh arr arz ast awa axm azb azz bal ban bar bav bbj "
    "bej bem bho bjn bor bpy brh bug bxr bzd ceb cgg cjk ckb ckt cop cpg crh ctn cux dar dik diq "
    "drs dsb dta dyu egy ess eve evn ext fon frm fro frr fsl fur glk gld gom gor got grc gsw gub "
    "gun gwi gya hbo hil hit hnd hne hno hsb huv hyw ifb ilo jaa jbo kab kac kam kbc kbp kea kfm "
    "kfz kmb kmr koi kpv krc krl lad laj lez lij liv lmo lrc ltg lua luo lus lzh lzz mag mai mdf "
    "mga mhr min mjl mnc mni mns mos mov mpu mrj mvf mwl mxx myu myv mzn nah nap naq nci ndg nds "
    "new nhi nmf nqo nso nus nyn nyq oac oge ojp olo orv osx ota otk pag pal pam pap pay pbv pcm "
    "pgl pln pms pnb pnt pra pro prx prs quc rhg rmc rue sab sah sat say sce scn sco sdh sei sga "
    "shn shp sjo skr sme sms soj ssp swl syr szl taq tpi tpn tum tyv tzm umb urb vec vep war wbp "
    "wuu xal xav xcl xmf xnr xpg xum yrk yrl yue zea zza"
)
"""The codes that Stanza 1.15 knows (``stanza.models.common.constant``): a language without analyses
has no calls."""


def is_language_code(code: str) -> bool:
    """Whether `code` is one of ISO 639-1, or one of ISO 639-3 that Stanza knows, of a language
    without two letters.
    """
    return code in _ISO_639_1.split() or code in _ISO_639_3.split()
