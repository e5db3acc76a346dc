"""Gates inside test suites; ``perfkit.pytest_plugin`` is what pytest loads."""
