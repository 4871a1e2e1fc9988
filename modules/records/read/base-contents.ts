import type { Actor } from '../../../src/core/actor.ts'
import { AppError } from '../../../src/core/errors.ts'
import { type AuthService, isExpired } from '../../auth/index.ts'
import type { SchemaReader } from '../../schema/index.ts'
import { isForeign } from '../table/index.ts'
import type { Reader } from './read.ts'

/** The contents of a base that are lost when it is deleted. */
interface BaseContents {
  tables: number
  /** Records of the base’s own tables; those of connected databases are not deleted. */
  records: number
  /** Tables of connected databases, which are only disconnected. */
  connectedTables: number
  /** People who can open the base, the actor included. */
  members: number
  /** Public links that stop working. */
  links: number
}

/** Counts the contents of a base, for the confirmation of its deletion. */
export function createBaseContents({
  auth,
  schema,
  records,
}: {
  auth: Pick<AuthService, 'access' | 'shares'>
  schema: Pick<SchemaReader, 'tables' | 'load'>
  records: Pick<Reader, 'count'>
}) {
  /** @throws BASE_NOT_FOUND; PERMISSION_DENIED below owner */
  return async function contents(actor: Actor, baseId: string): Promise<BaseContents> {
    const tables = await schema.tables(actor, baseId)
    await auth.access.authorize(actor, 'base.delete', baseId)
    let count = 0
    let connected = 0
    for (const { id: tableId } of tables) {
      if (isForeign(await schema.load(tableId))) connected++
      else count += await countOf(() => records.count(actor, { tableId }))
    }
    const links = (await auth.shares.ofBase(baseId)).filter((link) => !isExpired(link))
    return {
      tables: tables.length - connected,
      records: count,
      connectedTables: connected,
      members: (await auth.access.members(baseId)).length,
      links: links.length,
    }
  }
}

/** A table that is deleted in the meantime counts as empty. */
async function countOf(count: () => Promise<number>): Promise<number> {
  try {
    return await count()
  } catch (error) {
    if (error instanceof AppError && error.code === 'TABLE_NOT_FOUND') return 0
    throw error
  }
}
