// The model files that tests of several stages read, as text in the program: unit tests do not touch the disk.
#pragma once

#include <string_view>

namespace rcn::test {

struct ModelText {
  std::string_view name;
  std::string_view text;
};

inline constexpr ModelText kModels[] = {
    {"a_conformer_ctc.rcn",
#include "tests/unit/models/a_conformer_ctc.rcn.inc"
    },
    {"b_transformer.rcn",
#include "tests/unit/models/b_transformer.rcn.inc"
    },
    {"blocks.rcn",
#include "tests/unit/models/blocks.rcn.inc"
    },
    {"c_lstm_attention.rcn",
#include "tests/unit/models/c_lstm_attention.rcn.inc"
    },
    {"d_transducer.rcn",
#include "tests/unit/models/d_transducer.rcn.inc"
    },
    {"e_tacotron2.rcn",
#include "tests/unit/models/e_tacotron2.rcn.inc"
    },
    {"f_lstm_lm.rcn",
#include "tests/unit/models/f_lstm_lm.rcn.inc"
    },
    {"g_nar_tts.rcn",
#include "tests/unit/models/g_nar_tts.rcn.inc"
    },
    {"h_wav2vec.rcn",
#include "tests/unit/models/h_wav2vec.rcn.inc"
    },
    {"i_specaugment.rcn",
#include "tests/unit/models/i_specaugment.rcn.inc"
    },
    {"j_moe_multitask.rcn",
#include "tests/unit/models/j_moe_multitask.rcn.inc"
    },
};

// Every word that is a name only in some places, in all places. Parses; means nothing.
inline constexpr ModelText kHard = {"hard.rcn",
#include "tests/unit/models/hard.rcn.inc"
};

}  // namespace rcn::test
