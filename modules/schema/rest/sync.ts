import { Elysia } from 'elysia'
import { z } from 'zod'
import type { Authenticator } from '../../../src/caller.ts'
import type { Actor } from '../../../src/core/actor.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { SchemaService } from '../service.ts'
import { presentDifferences } from './sync-changes.ts'

type RestAuth = Authenticator & Pick<AuthService, 'access'>

/** `keys` of differences as the GET gives them; absent: all of them. */
const SyncBody = z.object({ keys: z.array(z.string().max(2000)).max(100_000).nullish() })

/** Differences between the metadata and the databases (wire §6). `prefix` is where bases are. */
export const syncRest = (prefix: string, schema: SchemaService, kernel: Kernel, auth: RestAuth) => {
  const differences = async (actor: Actor, idOrTitle: string, sourceId?: string) => {
    const base = await schema.resolveBase(actor, idOrTitle)
    return (await schema.sync.differences(actor, base.id, sourceId)).flatMap(presentDifferences)
  }
  const sync = async (actor: Actor, idOrTitle: string, body: unknown, sourceId?: string) => {
    const base = await schema.resolveBase(actor, idOrTitle)
    await auth.access.authorize(actor, 'source.update', base.id)
    return schema.sync.sync(actor, base.id, { sourceId, keys: readBody(SyncBody, body).keys })
  }
  return new Elysia({ prefix })
    .use(restBase(kernel, auth))
    .get('/:baseId/meta-diff', ({ actor, params }) => differences(actor, params.baseId))
    .get('/:baseId/meta-diff/:sourceId', ({ actor, params }) =>
      differences(actor, params.baseId, params.sourceId),
    )
    .post('/:baseId/meta-diff', ({ actor, params, body }) => sync(actor, params.baseId, body))
    .post('/:baseId/meta-diff/:sourceId', ({ actor, params, body }) =>
      sync(actor, params.baseId, body, params.sourceId),
    )
}
