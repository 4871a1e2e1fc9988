import { Elysia } from 'elysia'
import { z } from 'zod'
import { notFound } from '../../../src/core/errors.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { type Authenticator, readBody, restBase } from '../../../src/rest.ts'
import type { BasesService } from '../../bases/index.ts'
import type { Copies } from './index.ts'

/** `excludeHooks` is taken and has no effect on what there is to copy. */
const CopyBody = z.object({
  options: z.object({ excludeData: z.boolean().optional(), excludeViews: z.boolean().optional() }).nullish(),
  base: z.object({ title: z.string().max(255).optional() }).nullish(),
})

/** Copies of bases as REST clients ask for them (wire reference §13.3). */
export function copiesRest(copies: Copies, bases: BasesService, kernel: Kernel, auth: Authenticator) {
  const app = new Elysia({ name: 'copies-rest' }).use(restBase(kernel, auth))
  for (const prefix of ['/api/v1/db/meta', '/api/v2/meta']) {
    app
      .post(`${prefix}/duplicate/:baseId`, ({ actor, params, body }) => copy(actor, params.baseId, body))
      .post(`${prefix}/duplicate/:baseId/:sourceId`, async ({ actor, params, body }) => {
        const { id: baseId } = await bases.enter(actor, 'base.duplicate', params.baseId)
        const sources = (await bases.sourcesOf([baseId])).get(baseId) ?? []
        if (!sources.some(({ id }) => id === params.sourceId)) {
          throw notFound('Source', params.sourceId.slice(0, 64))
        }
        return copy(actor, baseId, body)
      })
  }
  return app

  async function copy(actor: Parameters<Copies['base']>[0], id: string, body: unknown) {
    await bases.enter(actor, 'base.duplicate', id)
    const { options, base } = readBody(CopyBody, body)
    const { jobId, baseId } = await copies.base(actor, id, {
      ...(base?.title && { title: base.title }),
      withData: options?.excludeData !== true,
      withViews: options?.excludeViews !== true,
    })
    return { id: jobId, base_id: baseId }
  }
}
