import { Elysia } from 'elysia'
import { nameRoute } from '../../../src/caller.ts'
import { nowMs } from '../../../src/clock.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { VERSION } from '../../../src/version.ts'

/**
 * What orchestrators and load balancers ask (wire §3). These routes take no notice of who asks, because that is looked up in
 * the database, and they have to answer without it.
 */
export function probesRest(kernel: Pick<Kernel, 'meta' | 'sources' | 'log' | 'shutdown'>) {
  const startedAt = performance.now()
  const readiness = createReadiness(kernel)
  return new Elysia({ name: 'probes-rest' })
    .onBeforeHandle(({ route }) => nameRoute(route))
    .get('/api/v1/version', () => ({ currentVersion: VERSION, releaseVersion: null }))
    .get('/api/v1/health', () => ({
      message: 'OK',
      timestamp: nowMs(),
      uptime: (performance.now() - startedAt) / 1000,
    }))
    .get('/api/v1/ready', async ({ set }) => {
      const problems = await readiness()
      if (problems.length > 0) set.status = 503
      return { status: problems.length > 0 ? 'unavailable' : 'ready', problems, timestamp: nowMs() }
    })
}

/** The checks are public, so their result is cached. */
const READINESS_CACHE_MS = 1_000
const READINESS_TIMEOUT_MS = 5_000

/** Returns why the server should get no requests: databases that do not answer (`metadata`, `bases`), or `stopping`. */
function createReadiness({
  meta,
  sources,
  log,
  shutdown,
}: Pick<Kernel, 'meta' | 'sources' | 'log' | 'shutdown'>) {
  let pending: Promise<string[]> | null = null
  let checkedAt = 0

  async function findProblems(): Promise<string[]> {
    const checks = { metadata: () => meta.check(), bases: () => sources.check() }
    const problems = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => {
        const timeout = Bun.sleep(READINESS_TIMEOUT_MS).then(() => {
          throw new Error(`no answer within ${READINESS_TIMEOUT_MS} ms`)
        })
        try {
          await Promise.race([check(), timeout])
          return []
        } catch (error) {
          log.error('not ready', error, { check: name })
          return [name]
        } finally {
          timeout.catch(() => undefined)
        }
      }),
    )
    return problems.flat()
  }

  return (): Promise<string[]> => {
    if (shutdown.hasBegun) return Promise.resolve(['stopping'])
    if (pending === null || performance.now() - checkedAt > READINESS_CACHE_MS) {
      checkedAt = performance.now()
      pending = findProblems()
    }
    return pending
  }
}
