import { Elysia } from 'elysia'
import { z } from 'zod'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import { parseJsonOrNull } from '../../../src/core/json-text.ts'
import { pageLanguage, SHARE_PASSWORD_MASK, type ShareSettings } from '../../../src/core/shares.ts'
import { plainObject } from '../../../src/input.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { scalar } from '../../../src/wire/answer.ts'
import { wireFlag } from '../../../src/wire/body-values.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService, SharePatch } from '../../auth/index.ts'
import type { RecordsService } from '../../records/index.ts'
import type { SchemaReader } from '../../schema/index.ts'
import { presentOneView, presentViewList, refuseLocked, type ViewsService } from '../../views/index.ts'
import { customAddress, password } from '../input.ts'
import type { SharesService } from '../service.ts'

export interface RestServices {
  auth: AuthService
  schema: SchemaReader
  views: ViewsService
  records: RecordsService
  shares: SharesService
}

/** Prefixes in both API versions, with their name for sources. */
const PREFIXES = [
  { meta: '/api/v1/db/meta', bases: '/api/v1/db/meta/projects', sources: 'bases' },
  { meta: '/api/v2/meta', bases: '/api/v2/meta/bases', sources: 'sources' },
]

/** A password; null or empty for none; the mask that clients read keeps the stored one. */
const WirePassword = z.union([z.literal(SHARE_PASSWORD_MASK), z.literal(''), password]).nullish()

const LinkSettings = z.looseObject({
  allowCSVDownload: wireFlag.nullish(),
  surveyMode: wireFlag.nullish(),
  rtl: wireFlag.nullish(),
  language: z.optional(pageLanguage),
  theme: z.looseObject({ primaryColor: z.string().nullish() }).nullish(),
})
const WireSettings = plainObject(16_384).pipe(LinkSettings)

/** Changes of a view's link (wire §9.2); `meta` may be JSON text. */
const ViewShareBody = z.object({
  password: WirePassword,
  meta: z
    .union([WireSettings, z.string().max(16_384).transform(parseJsonOrNull).pipe(WireSettings)])
    .nullish(),
  uuid: customAddress.nullish(),
})

/** Changes of a base's link (wire §5.2), whose password has at least eight characters. */
const BaseShareBody = z.object({
  roles: z.enum(['viewer', 'editor']).optional(),
  password: z.union([z.literal(SHARE_PASSWORD_MASK), z.literal(''), password.min(8)]).nullish(),
  fk_custom_url_id: z.null().optional(),
})

/** Clients create links for viewers and change the role later; the password applies at once. */
const OpenBody = BaseShareBody.extend({ roles: z.string().max(64).nullish() })

interface Deps {
  auth: AuthService
  views: ViewsService
  shares: SharesService
}

/** Creating, changing and closing public links (wire §5.2, §9.2). */
export function manageRest(kernel: Kernel, deps: Deps) {
  const app = new Elysia()
  for (const { meta, bases, sources } of PREFIXES) {
    app.use(viewRoutes(meta, kernel, deps)).use(baseRoutes(bases, sources, kernel, deps))
  }
  return app
}

function viewRoutes(prefix: string, kernel: Kernel, { auth, views, shares }: Deps) {
  const shown = async (actor: Actor, viewId: string) => {
    const { view: _, ...rest } = await presentOneView(views, actor, viewId)
    return rest
  }
  /** Saves the link, and in the view’s own `meta` the keys that are no settings of a link. */
  const save = async (actor: Actor, viewId: string, body: unknown) => {
    const sent = readBody(ViewShareBody, body)
    const own = sent.meta ? ownKeysOf(sent.meta) : {}
    const { row } = await views.openRow(actor, 'view.share', viewId)
    const changesMeta = !Bun.deepEquals({ ...row.meta, ...own }, row.meta)
    // Before the link is saved: a refusal must change nothing.
    if (changesMeta) refuseLocked(actor, row, ['meta'])
    await shares.save(actor, 'view', viewId, readShareBody(sent))
    if (changesMeta) {
      await views.change(actor, viewId, ['view.update'], ({ meta }) => ({ meta: { ...meta, ...own } }))
    }
    return shown(actor, viewId)
  }
  return new Elysia({ prefix })
    .use(restBase(kernel, auth))
    .post('/views/:viewId/share', async ({ actor, params, body }) => {
      await shares.targets.enter(actor, 'view', params.viewId)
      return save(actor, params.viewId, body)
    })
    .patch('/views/:viewId/share', async ({ actor, params, body }) => {
      const share = await shares.get(actor, 'view', params.viewId)
      // A patch must not open a closed link.
      if (!share) throw badRequest(m.shares_error_view_not_shared())
      return save(actor, params.viewId, body)
    })
    .delete('/views/:viewId/share', async ({ actor, params }) => {
      await shares.close(actor, 'view', params.viewId)
      return scalar(true)
    })
    .get('/tables/:tableId/share', async ({ actor, params }) => {
      await views.openTable(actor, 'view.share', params.tableId)
      const all = await presentViewList(views, actor, params.tableId)
      return { list: all.filter(({ uuid }) => uuid !== null) }
    })
}

function baseRoutes(prefix: string, sources: string, kernel: Kernel, { auth, shares }: Deps) {
  const present = async (actor: Actor, baseId: string, request: Request) => {
    const share = await shares.get(actor, 'base', baseId)
    if (!share) return { uuid: null, roles: null }
    return { uuid: share.id, roles: share.role, url: urlOf(request, `/base/base/${share.id}`) }
  }
  const urlOf = (request: Request, path: string) => `${auth.siteUrl(request)}/#${path}`
  /** @throws SOURCE_NOT_FOUND for a source of another base */
  const sourceOf = async (actor: Actor, { baseId, sourceId }: { baseId: string; sourceId: string }) => {
    const target = await shares.targets.enter(actor, 'erd', sourceId)
    if (target.baseId !== baseId) throw notFound('Source', sourceId.slice(0, 64))
  }
  return new Elysia({ prefix: `${prefix}/:baseId` })
    .use(restBase(kernel, auth))
    .get('/shared', ({ actor, params, request }) => present(actor, params.baseId, request))
    .post('/shared', async ({ actor, params, body, request }) => {
      await shares.targets.enter(actor, 'base', params.baseId)
      const { roles, ...rest } = readBody(OpenBody, body)
      if (roles && roles !== 'viewer') throw badRequest('Only viewer role is supported')
      await shares.save(actor, 'base', params.baseId, passwordPatch(rest))
      return present(actor, params.baseId, request)
    })
    .patch('/shared', async ({ actor, params, body, request }) => {
      const share = await shares.get(actor, 'base', params.baseId)
      if (!share) throw badRequest(m.shares_error_base_not_shared())
      const { roles, ...rest } = readBody(BaseShareBody, body)
      await shares.save(actor, 'base', params.baseId, {
        ...(roles && { role: roles }),
        ...passwordPatch(rest),
      })
      return { ...(await present(actor, params.baseId, request)), fk_custom_url_id: null }
    })
    .delete('/shared', async ({ actor, params }) => {
      await shares.close(actor, 'base', params.baseId)
      return { uuid: null }
    })
    .post(`/${sources}/:sourceId/share/erd`, async ({ actor, params, body, request }) => {
      await sourceOf(actor, params)
      const patch = passwordPatch(readBody(BaseShareBody, body))
      const { id } = await shares.save(actor, 'erd', params.sourceId, patch)
      return { uuid: id, url: urlOf(request, `/ERD/shared/${id}`) }
    })
    .delete(`/${sources}/:sourceId/share/erd`, async ({ actor, params }) => {
      await sourceOf(actor, params)
      await shares.close(actor, 'erd', params.sourceId)
      return { uuid: null }
    })
}

function readShareBody(body: z.output<typeof ViewShareBody>): SharePatch {
  const { uuid, meta } = body
  return { ...passwordPatch(body), ...(uuid && { id: uuid }), ...(meta && { settings: settingsOf(meta) }) }
}

const passwordPatch = ({
  password,
}: {
  password?: string | null | undefined
}): Pick<SharePatch, 'password'> =>
  password === undefined || password === SHARE_PASSWORD_MASK ? {} : { password: password || null }

const ownKeysOf = (meta: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(meta).filter(([key]) => !Object.hasOwn(LinkSettings.shape, key)))

/** Link settings among the keys of `meta`; an invalid colour becomes null. */
function settingsOf(meta: z.output<typeof WireSettings>): Partial<ShareSettings> {
  const { allowCSVDownload, surveyMode, rtl, language, theme } = meta
  const color = theme?.primaryColor
  return {
    ...(allowCSVDownload != null && { allowDownload: allowCSVDownload }),
    ...(surveyMode != null && { survey: surveyMode }),
    ...(rtl != null && { rtl }),
    ...(language !== undefined && { language }),
    ...(color !== undefined && { themeColor: color && /^#[0-9a-f]{6}$/i.test(color) ? color : null }),
  }
}
