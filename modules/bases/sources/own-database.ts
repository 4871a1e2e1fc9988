import type { Actor } from '../../../src/core/actor.ts'
import { AppError } from '../../../src/core/errors.ts'
import { holdsOrgRole } from '../../../src/core/roles.ts'
import type { ConnectionConfig } from '../../../src/db/connection.ts'
import { introspector, type StructureReader } from '../../../src/db/introspect/index.ts'
import type { Sources } from '../../../src/db/sources.ts'

/**
 * True for those who may connect a base to the database that this server keeps its own data in: whoever reads
 * it reads the accounts and the records of all bases, which is a super admin's to decide.
 */
export const mayReadOwnDatabase = (actor: Actor): boolean =>
  actor.kind === 'user' && holdsOrgRole(actor.orgRoles, 'super')

/**
 * Holds what a connection has led to against this server's own database. Addresses tell nothing: one server
 * has many.
 *
 * @throws FORBIDDEN where it is that, and the one who connects may not read it
 */
export async function refuseOwnDatabase(
  sources: Pick<Sources, 'ownDatabase'>,
  config: ConnectionConfig,
  reader: StructureReader,
  mayReadOwn: boolean,
): Promise<void> {
  if (mayReadOwn) return
  const own = await sources.ownDatabase()
  if (own === null || own !== (await introspector(config.client).identity(reader))) return
  throw new AppError(
    'FORBIDDEN',
    'This database stores the accounts and bases of this server. Only a super admin can connect a base to it.',
  )
}
