/**
 * The processor time that this process has used, in milliseconds. Unlike the clock it does not run on while other
 * processes have the machine, so a test of how much work something takes does not depend on the load.
 */
export function cpuTimeMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
