// The files of compiler/driver/verify/, which `rcnc verify` runs in the Python of its user.
#pragma once

#include <string_view>

namespace rcn {

extern const std::string_view kVerifyPy, kVerificationPy, kPairingPy, kComparePy, kEagerPy, kFeedingPy, kInputsPy, kRefereePy, kReturnnProcessPy,
    kStructurePy, kTensorMetaPy, kTfNetworkPy;
extern const std::string_view kRequirements;  // of RETURNN, for pip

}  // namespace rcn
