# A DRAFT of a Homebrew formula: hettop is in no tap yet, and nobody has run it. `python -m tools.formula` fills in what is
# in capitals from the sdist of a release and a lock file. Requirements are wheels, as onnxruntime and coremltools have no
# source archives that Homebrew could build.
class Hettop < Formula
  include Language::Python::Virtualenv

  desc "Terminal live profiler for on-device inference: latency, compute units, power"
  homepage "HOMEPAGE"
  url "URL"
  sha256 "SHA256"
  license "MIT"

  depends_on arch: :arm64 # onnxruntime has no wheels for Intel Macs
  depends_on macos: :sonoma
  depends_on "python@3.13" # coremltools has no wheel for 3.14

  # RESOURCES

  def install
    venv = virtualenv_create(libexec, "python3.13")
    wheels = buildpath/"wheels"
    resources.each { |wheel| wheel.stage { wheels.install Dir["*.whl"] } }
    system "python3.13", "-m", "pip", "--python=#{libexec}/bin/python", "install", "--no-deps", "--no-index",
           *Dir[wheels/"*.whl"]
    venv.pip_install_and_link buildpath
    generate_completions_from_executable(bin/"hettop", "completions", shells: [:bash, :zsh, :fish],
                                         shell_parameter_format: :arg)
    man1.install "packaging/hettop.1"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/hettop --version")
    assert_match "SIMULATED", shell_output("#{bin}/hettop bench --backend simulated --units ALL --runs 10")
  end
end
