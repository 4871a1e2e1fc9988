import { Elysia } from 'elysia'
import { nowMs } from '../../../src/clock.ts'
import { cacheSizes, clearCaches } from '../../../src/db/read-cache.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { VERSION } from '../../../src/version.ts'
import { scalar } from '../../../src/wire/answer.ts'
import { restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../service.ts'

const INFO_PATHS = ['/api/v1/db/meta/nocodb/info', '/api/v1/meta/nocodb/info', '/api/v2/meta/nocodb/info']
const CACHE_PATHS = ['/api/v1/db/meta/cache', '/api/v2/meta/cache']

/** Public routes about the server: version, health, features (wire §3). */
export const instanceRest = (auth: AuthService, kernel: Kernel) => {
  const startedAt = performance.now()
  const readiness = createReadiness(kernel)
  const app = new Elysia({ name: 'instance-rest' })
    .use(restBase(kernel, auth))
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
    // Discarded: anyone may send reports.
    .post('/api/v1/error-reporting', () => new Response(null, { status: 201 }))
  for (const path of CACHE_PATHS) {
    // Caches are invalidated by each change; clearing them only makes the next reads slower.
    app
      .get(path, async ({ actor }) => {
        await auth.access.authorize(actor, 'settings.read')
        return cacheSizes(kernel.meta)
      })
      .delete(path, async ({ actor }) => {
        await auth.access.authorize(actor, 'settings.update')
        clearCaches(kernel.meta)
        return scalar(true)
      })
  }
  for (const path of INFO_PATHS) app.get(path, ({ request }) => presentInfo(auth, kernel, request))
  return app
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

async function presentInfo(auth: AuthService, { config }: Kernel, request: Request) {
  const [hasUsers, inviteOnlySignup] = await Promise.all([auth.hasUsers(), auth.settings.isInviteOnly()])
  return {
    authType: 'jwt',
    baseHasAdmin: hasUsers,
    firstUser: !hasUsers,
    type: 'rest',
    googleAuthEnabled: false,
    githubAuthEnabled: false,
    oidcAuthEnabled: false,
    oidcProviderName: null,
    samlAuthEnabled: false,
    samlProviderName: null,
    oneClick: false,
    connectToExternalDB: true,
    version: VERSION,
    defaultLimit: 25,
    defaultGroupByLimit: { limitGroup: 25, limitRecord: 10 },
    ncMin: false,
    teleEnabled: false,
    errorReportingEnabled: false,
    auditEnabled: true,
    ncSiteUrl: auth.siteUrl(request),
    ee: false,
    ncAttachmentFieldSize: config.attachmentMaxBytes,
    ncMaxAttachmentsAllowed: config.attachmentMaxCount,
    isCloud: false,
    automationLogLevel: config.automationLogLevel,
    disableEmailAuth: false,
    feedEnabled: false,
    baseHostName: null,
    mainSubDomain: 'app',
    dashboardPath: '/dashboard',
    // Clients expect the key to be absent until someone has signed up.
    ...(hasUsers && { inviteOnlySignup, giftUrl: '' }),
    prodReady: config.databaseUrl !== null,
    allowLocalUrl: config.allowLocalHttp,
    isOnPrem: false,
    disableSupportChat: true,
    disableOnboardingFlow: true,
  }
}
