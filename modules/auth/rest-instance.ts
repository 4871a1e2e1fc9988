import { Elysia } from 'elysia'
import { cacheSizes, clearCaches } from '../../src/db/read-cache.ts'
import type { Kernel } from '../../src/kernel.ts'
import { restBase, scalar } from '../../src/rest.ts'
import { VERSION } from '../../src/version.ts'
import type { AuthService } from './service.ts'

const INFO_PATHS = ['/api/v1/db/meta/nocodb/info', '/api/v1/meta/nocodb/info', '/api/v2/meta/nocodb/info']
const CACHE_PATHS = ['/api/v1/db/meta/cache', '/api/v2/meta/cache']

/** The server itself, which everyone may ask: version, health and what is switched on (wire §3). */
export const instanceRest = (auth: AuthService, kernel: Kernel) => {
  const startedAt = performance.now()
  const app = new Elysia({ name: 'instance-rest' })
    .use(restBase(kernel, auth))
    .get('/api/v1/version', () => ({ currentVersion: VERSION, releaseVersion: null }))
    .get('/api/v1/health', () => ({
      message: 'OK',
      timestamp: Date.now(),
      uptime: (performance.now() - startedAt) / 1000,
    }))
    // Clients report their own errors here. Nothing is kept of them: anyone could send anything.
    .post('/api/v1/error-reporting', () => new Response(null, { status: 201 }))
  for (const path of CACHE_PATHS) {
    // What is held in memory is forgotten at the change itself; clearing it only makes the next reads fresh.
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
    auditEnabled: false,
    ncSiteUrl: auth.siteUrl(request),
    ee: false,
    ncAttachmentFieldSize: config.attachmentMaxBytes,
    ncMaxAttachmentsAllowed: config.attachmentMaxCount,
    isCloud: false,
    automationLogLevel: 'OFF',
    disableEmailAuth: false,
    feedEnabled: false,
    baseHostName: null,
    mainSubDomain: 'app',
    dashboardPath: '/dashboard',
    // As clients know it: the key is absent until someone has signed up.
    ...(hasUsers && { inviteOnlySignup, giftUrl: '' }),
    prodReady: config.databaseUrl !== null,
    allowLocalUrl: config.allowLocalHttp,
    isOnPrem: false,
    disableSupportChat: true,
    disableOnboardingFlow: true,
  }
}
