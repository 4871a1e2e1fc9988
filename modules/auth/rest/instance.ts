import { Elysia } from 'elysia'
import { cacheSizes, clearCaches } from '../../../src/db/read-cache.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { VERSION } from '../../../src/version.ts'
import { scalar } from '../../../src/wire/answer.ts'
import { restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../service.ts'

const INFO_PATHS = ['/api/v1/db/meta/nocodb/info', '/api/v1/meta/nocodb/info', '/api/v2/meta/nocodb/info']
const CACHE_PATHS = ['/api/v1/db/meta/cache', '/api/v2/meta/cache']

/** Routes about the server: its features, and its caches (wire §3). */
export const instanceRest = (auth: AuthService, kernel: Kernel) => {
  const app = new Elysia({ name: 'instance-rest' })
    .use(restBase(kernel, auth))
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
