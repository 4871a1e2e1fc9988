/*
 * Timeouts only end hanging tests. Quiet tests and the benchmark measure speed, so that load does not fail
 * other tests.
 */

/** Time for one test or hook, unless it asks for more. */
export const TEST_TIMEOUT_MS = 120_000
/** The same for browser tests. */
export const E2E_TIMEOUT_MS = 180_000
/** The same for tests that wait until others leave a processor idle. */
export const WAITING_TIMEOUT_MS = 600_000
