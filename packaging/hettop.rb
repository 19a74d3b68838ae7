# A DRAFT of a Homebrew formula: hettop is in no tap yet. It lacks addresses and checksums, which exist once there is a
# release, and the resources, which `brew update-python-resources hettop` writes. Nobody has run it.
class Hettop < Formula
  include Language::Python::Virtualenv

  desc "Terminal live profiler for on-device inference: latency, compute units, power"
  homepage "REPLACE_WITH_THE_HOME_PAGE"
  url "REPLACE_WITH_WHERE_THE_RELEASE_LIES/hettop-0.1.0.tar.gz"
  sha256 "REPLACE_WITH_THE_CHECKSUM_OF_THE_RELEASE"
  license "MIT"

  depends_on "python@3.13" # coremltools has no wheel for 3.14

  def install
    virtualenv_install_with_resources
    generate_completions_from_executable(bin/"hettop", "completions", shells: [:bash, :zsh, :fish],
                                         shell_parameter_format: :arg)
    man1.install "packaging/hettop.1"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/hettop --version")
    assert_match "SIMULATED", shell_output("#{bin}/hettop bench --backend simulated --units ALL --runs 10")
  end
end
