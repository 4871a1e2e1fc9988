/**
 * The processor time of this process in milliseconds. It excludes other processes, so that measurements do
 * not depend on the machine's load.
 */
export function cpuTimeMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
