"""Texts in which macOS, Core ML, and the tools that measure power have been seen to fail, and what a person is to read.

The syntax is that of public reports; names, paths, addresses, and numbers are made up.

Searched for, and not found in any public report:
- an NSError of Core ML on macOS 27 (all of those below are of macOS 13 to 26; the notation has not changed in them);
- `NSMultipleUnderlyingErrorsKey`, and data (`{length = …}`), in what coremltools raises: their syntax is Foundation's;
- a user info with nothing in it: it is what an NSError without one is printed as;
- texts of macmon on macOS 26 and 27 when it fails: there it reports zeros instead, which is no error;
- texts of powermetrics when it fails on macOS 26 and 27, beyond those of earlier versions;
- sudo's texts in other languages: it is always asked for English.
"""

from __future__ import annotations

from dataclasses import dataclass

TEMPORARY = "/private/var/folders/q1/8zk2c_v90000gn/T"


@dataclass(frozen=True)
class ErrorText:
    """name: of the form; raw: as it is printed or raised; said: what is read of it in one line."""

    name: str
    raw: str
    said: str


def user_info(*pairs: str) -> str:
    """As `NSDictionary` describes itself: coremltools' binding raises this of every NSError."""
    return "{\n" + "".join(f"    {pair};\n" for pair in pairs) + "}"


FROM_COREMLTOOLS = (
    ErrorText(
        "a description",
        user_info('NSLocalizedDescription = "Error computing NN outputs."'),
        "Error computing NN outputs.",
    ),
    ErrorText(
        "a description of one word, which needs no quotation marks",
        user_info("NSLocalizedDescription = Unsupported"),
        "Unsupported",
    ),
    ErrorText(
        "a plan that cannot be built",
        user_info(
            'NSLocalizedDescription = "Failed to build the model execution plan using a model architecture file '
            f"'{TEMPORARY}/tmpab12.mlmodelc/model.mil' with error code: -14.\""
        ),
        "Failed to build the model execution plan using a model architecture file 'model.mil' with error code: -14.",
    ),
    ErrorText(
        "a description of places in a file, caused by an error without one",
        user_info(
            f'NSLocalizedDescription = "at {TEMPORARY}/net_1F.mlmodelc/model.mil:11:258: Error parsing MIL model: at '
            f"{TEMPORARY}/net_1F.mlmodelc/model.mil:11:258: Could not open "
            f'{TEMPORARY}/net_1F.mlmodelc/weights/weight.bin"',
            'NSUnderlyingError = "Error Domain=com.apple.CoreML Code=110 \\"(null)\\""',
        ),
        "at model.mil:11:258: Error parsing MIL model: at model.mil:11:258: Could not open weight.bin",
    ),
    ErrorText(
        "a pipeline",
        user_info(
            'NSLocalizedDescription = "Failed to evaluate model 0 in pipeline"',
            'NSUnderlyingError = "Error Domain=com.apple.CoreML Code=1 \\"(null)\\""',
        ),
        "Failed to evaluate model 0 in pipeline",
    ),
    ErrorText(
        "a shape that does not fit",
        user_info(
            "NSLocalizedDescription = \"For input feature 'x', the provided shape (1 \\U00d7 4) is not compatible with "
            'the model\\U2019s feature description."',
            'NSUnderlyingError = "Error Domain=com.apple.CoreML Code=0 \\"MultiArray shape (1 x 4) does not match the '
            'shape (1 x 8) specified in the model description\\" UserInfo={NSLocalizedDescription=MultiArray shape '
            '(1 x 4) does not match the shape (1 x 8) specified in the model description}"',
        ),
        "For input feature 'x', the provided shape (1 × 4) is not compatible with the model’s feature description.",
    ),
    ErrorText(
        "a file: no description, the reason is the underlying error's",
        user_info(
            'NSFilePath = "/Users/ada/My models/net.mlmodelc"',
            'NSUnderlyingError = "Error Domain=NSPOSIXErrorDomain Code=2 \\"No such file or directory\\""',
        ),
        "No such file or directory: /Users/ada/My models/net.mlmodelc",
    ),
    ErrorText(
        "a full disk",
        user_info(
            'NSFilePath = "/Users/ada/net.mlmodelc/weight.bin"',
            'NSUnderlyingError = "Error Domain=NSPOSIXErrorDomain Code=28 \\"No space left on device\\""',
            "NSUserStringVariant =     (\n        Save\n    )",
        ),
        "No space left on device: /Users/ada/net.mlmodelc/weight.bin",
    ),
    ErrorText(
        "a file with a description in Foundation's typography",
        user_info(
            'NSFilePath = "/Users/ada/net.sql"',
            'NSLocalizedDescription = "The file \\U201cnet.sql\\U201d couldn\\U2019t be opened."',
            "NSUnderlyingError = Error Domain=NSCocoaErrorDomain Code=256",
        ),
        "The file “net.sql” couldn’t be opened.",
    ),
    ErrorText(
        "a description that says nothing, with a reason",
        user_info(
            'NSLocalizedDescription = "The operation couldn\\U2019t be completed. (com.apple.CoreML error 0.)"',
            'NSLocalizedFailureReason = "The model has no function of that name."',
        ),
        "The model has no function of that name.",
    ),
    ErrorText(
        "a description that says nothing, with a cause",
        user_info(
            'NSLocalizedDescription = "The operation couldn\\U2019t be completed."',
            'NSUnderlyingError = "Error Domain=com.apple.aned Code=14 \\"Program load failure (0x20004)\\""',
        ),
        "Program load failure (0x20004)",
    ),
    ErrorText(
        "a description that says nothing, with nothing else",
        user_info('NSLocalizedDescription = "The operation couldn\\U2019t be completed. (com.apple.CoreML error 0.)"'),
        "The operation couldn’t be completed. (com.apple.CoreML error 0.)",
    ),
    ErrorText(
        "a cause of a cause",
        user_info(
            'NSUnderlyingError = "Error Domain=com.apple.CoreML Code=6 \\"(null)\\" UserInfo={NSUnderlyingError='
            '0x600001 {Error Domain=NSPOSIXErrorDomain Code=13 \\"Permission denied\\"}}"'
        ),
        "Permission denied",
    ),
    ErrorText(
        "only a domain and a number",
        user_info('NSUnderlyingError = "Error Domain=com.apple.CoreML Code=110 \\"(null)\\""'),
        "com.apple.CoreML error 110",
    ),
    ErrorText(
        "several causes, and data",
        user_info(
            "NSData = {length = 4, bytes = 0x0102abcd}",
            "NSMultipleUnderlyingErrorsKey =     (\n"
            '        "Error Domain=com.apple.CoreML Code=1 \\"(null)\\"",\n'
            '        "Error Domain=com.apple.CoreML Code=2 \\"The second one\\""\n    )',
        ),
        "The second one",
    ),
    ErrorText("nothing", "{\n}", "no reason given (RuntimeError)"),
    ErrorText("a lone brace", "{", "no reason given (RuntimeError)"),
    ErrorText(
        "a compilation: the binding's own words around Foundation's",
        'Error compiling model: "The file couldn’t be saved.".',
        'Error compiling model: "The file couldn’t be saved.".',
    ),
    ErrorText(
        "a warning of coremltools with an NSError in it",
        "You will not be able to run predict() on this Core ML model. Underlying exception message was: "
        + user_info('NSLocalizedDescription = "Failed to set up decode pipeline."'),
        "You will not be able to run predict() on this Core ML model. Underlying exception message was: "
        "Failed to set up decode pipeline.",
    ),
    ErrorText(
        "a plan that coremltools' binding could not convert",
        user_info("NSLocalizedDescription = \"Failed to load compute plan, with error=no attribute 'MLComputePlan'.\""),
        "Failed to load compute plan, with error=no attribute 'MLComputePlan'.",
    ),
    ErrorText("a value that the binding does not take", "value type not convertible", "value type not convertible"),
    ErrorText("an exception of Objective-C", "Caught an unknown exception!", "Caught an unknown exception!"),
    ErrorText(
        "a set of names, as Python writes it",
        "'Provided key \"z\", in the input dict, does not match any of the model input name(s), which are: {\\'x\\'}'",
        "'Provided key \"z\", in the input dict, does not match any of the model input name(s), which are: {\\'x\\'}'",
    ),
)
"""The texts of RuntimeErrors, and how `reason` words them."""

FROM_ONNX_RUNTIME = (
    ErrorText(
        "its Core ML provider at a call",
        "[ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running 42_CoreML_42_3 node. "
        "Name:'CoreMLExecutionProvider_42_3' Status Message: Error executing model: Unable to compute the prediction "
        "using a neural network model (error code: -1).",
        "node CoreMLExecutionProvider_42_3 (42_CoreML_42_3): Error executing model: Unable to compute the prediction "
        "using a neural network model (error code: -1).",
    ),
    ErrorText(
        "shapes in braces",
        "[ONNXRuntimeError] : 1 : FAIL : Error merging shape info for output. 'y' source:{4} target:{5}.",
        "Error merging shape info for output. 'y' source:{4} target:{5}.",
    ),
)

IN_LOGS = (
    ErrorText(
        "the Neural Engine's compiler failing while a load goes on",
        "E5RT encountered an STL exception. msg = MILCompilerForANE error: failed to compile ANE model using ANEF. "
        "Error=_ANECompiler : ANECCompile() FAILED.\n"
        "E5RT: MILCompilerForANE error: failed to compile ANE model using ANEF. Error=_ANECompiler : "
        "ANECCompile() FAILED (11)",
        "E5RT: MILCompilerForANE error: failed to compile ANE model using ANEF. Error=_ANECompiler : "
        "ANECCompile() FAILED (11)",
    ),
    ErrorText(
        "the older words of it, over several lines",
        "2026-02-03 14:33:40.854379+0800 net[410:345] [espresso] [Espresso::handle_ex_plan] exception=ANECF error: "
        "ANECCompile(/var/cache/aned/5C/) FAILED: err=(\n    CompilationFailure\n)",
        "    CompilationFailure",
    ),
    ErrorText(
        "the Neural Engine's service",
        'ANE compile failed: Error Domain=com.apple.appleneuralengine.compiler Code=1 "_ANECompiler : ANECCompile() '
        'FAILED" UserInfo={NSLocalizedDescription=_ANECompiler : ANECCompile() FAILED}',
        "ANE compile failed: _ANECompiler : ANECCompile() FAILED",
    ),
    ErrorText(
        "Core ML's own line",
        "[coreml] MLModelAsset: load failed with error Error Domain=com.apple.CoreML Code=0 \"Unable to read 'it'\" "
        "UserInfo={NSLocalizedDescription=Unable to read 'it'}",
        "[coreml] MLModelAsset: load failed with error Unable to read 'it'",
    ),
    ErrorText(
        "a file, and the user info of the error that caused it",
        'Error Domain=NSCocoaErrorDomain Code=260 "The file “[a].xml” couldn’t be opened because there is no such '
        'file." UserInfo={NSFilePath=/Users/ada/[a].xml, NSUnderlyingError=0x600000cc5e30 {Error '
        'Domain=NSPOSIXErrorDomain Code=2 "No such file or directory"}}',
        "The file “[a].xml” couldn’t be opened because there is no such file.",
    ),
    ErrorText(
        "an NSError in the middle of a line",
        'load failed: Error Domain=com.apple.CoreML Code=0 "Unable" UserInfo={NSLocalizedDescription=Unable, '
        "NSModels={a, b}}, retrying on the CPU",
        "load failed: Unable, retrying on the CPU",
    ),
    ErrorText(
        "the end of a traceback, which is where a Python program says it",
        "Traceback (most recent call last):\nRuntimeError: "
        + user_info('NSLocalizedDescription = "Failed to create an IOSurface\\U2026"'),
        "RuntimeError: Failed to create an IOSurface…",
    ),
    ErrorText(
        "a plan asked for of what is not compiled, before the process aborts",
        "libc++abi: terminating due to uncaught exception of type std::__1::ios_base::failure: Failed to open file: "
        "net.mlpackage/coremldata.bin. It is not a valid .mlmodelc file.",
        "libc++abi: terminating due to uncaught exception of type std::__1::ios_base::failure: Failed to open file: "
        "net.mlpackage/coremldata.bin. It is not a valid .mlmodelc file.",
    ),
)
"""What is printed, and the last line of it that a person is shown."""

NO_PASSWORD, NO_RIGHT, NOT_THE_COMMAND = "expired", "you may not use sudo", "does not allow you to run powermetrics"

FROM_SUDO = (
    ErrorText("nobody to ask", "sudo: a password is required", NO_PASSWORD),
    ErrorText(
        "no terminal",
        "sudo: a terminal is required to read the password; either use the -S option to read from standard input or "
        "configure an askpass helper\nsudo: a password is required",
        NO_PASSWORD,
    ),
    ErrorText("not in sudoers", "ada is not in the sudoers file.", NO_RIGHT),
    ErrorText(
        "not in sudoers, as sudo before 1.9.13 says it",
        "ada is not in the sudoers file.  This incident will be reported.",
        NO_RIGHT,
    ),
    ErrorText(
        "another command only",
        "Sorry, user ada is not allowed to execute '/usr/bin/powermetrics -f plist' as root on mac.local.",
        NOT_THE_COMMAND,
    ),
    ErrorText("no rules", "Sorry, user ada may not run sudo on mac.", NO_RIGHT),
)
"""What sudo prints, and what is said of it."""

FROM_POWERMETRICS = (
    ErrorText("not root", "powermetrics must be invoked as the superuser", "powermetrics was not started as root"),
    ErrorText(
        "an unknown sampler",
        "powermetrics: unrecognized sampler: bandwidth",
        "this macOS does not have a sampler: powermetrics: unrecognized sampler: bandwidth",
    ),
    ErrorText(
        "a virtual machine",
        "ERROR: cannot find the IO registry entry for IODeviceTree:/arm-io/pmgr",
        "ERROR: cannot find the IO registry entry for IODeviceTree:/arm-io/pmgr",
    ),
    ErrorText(
        "an assertion",
        "Assertion failed: (num_resids == (uint32_t)IOReportStateGetCount(sample)), function "
        "read_cluster_power_stats_sample, file cpu_power_arm.c, line 245.",
        "Assertion failed: (num_resids == (uint32_t)IOReportStateGetCount(sample)), function "
        "read_cluster_power_stats_sample, file cpu_power_arm.c, line 245.",
    ),
)
"""What powermetrics prints, and the reason that is shown."""

FROM_MACMON = (
    ErrorText(
        "no channels, in a virtual machine", 'Error: "Failed to get channels"', 'Error: "Failed to get channels"'
    ),
    ErrorText(
        "a panic of Rust",
        "thread 'main' panicked at src/debug.rs:26:74:\ncalled `Option::unwrap()` on a `None` value\n"
        "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
        "called `Option::unwrap()` on a `None` value",
    ),
)
"""What macmon prints, and the line of it that says why."""
