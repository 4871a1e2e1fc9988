import { AppError } from '../../core/errors.ts'
import { NAME_PREFIX } from '../../dialects/automatic-index.ts'
import type { Statement } from '../../dialects/dialect.ts'
import type { PostgresConnection } from '../connection.ts'
import { baseBusy, type Turn } from '../mutex.ts'
import type { RefusedIndexes } from '../watched-engine.ts'
import { explainPostgres, OWN_DATABASE } from './errors.ts'
import { dropIndex } from './indexes.ts'

/** Indexes that one write may drop. */
const MAX_DROPPED = 20

/** Readers, or the build of another index, kept a write from dropping an index. */
export class IndexInUse extends Error {}

/** Where a write is repeated without the indexes that refuse it. */
interface Place {
  connection: PostgresConnection
  schema: string
  /** The database's name in errors. */
  source: string
  /** Reads outside of the write's transaction, which has ended. */
  all<T>(statement: Statement): Promise<T[]>
  /** Takes the indexes that were dropped. */
  refusedBy?(indexes: RefusedIndexes): void
}

/**
 * Repeats writes that an automatic index refused, without that index: PostgreSQL cannot index texts of more than about
 * 2,700 bytes, and computes the expressions of indexes for each written record. No value may be rejected because of an index.
 */
export interface RefusedValues {
  /** Translates the errors of work for users. Only errors that passed here can be recognised as refusals. */
  explained<T>(work: Promise<T>): Promise<T>
  /**
   * Runs a write that drops the indexes `without` in its own transaction. Where an error does not name the index, the write
   * is tried without each one; if it fails without all of them, it is itself at fault, and no index is dropped.
   *
   * @param turn how long the write waits where readers of the table keep an index; the index is dropped in any case
   * @throws BASE_BUSY after that time
   */
  repeatShort<T>(write: (without: readonly string[]) => Promise<T>, turn: Turn): Promise<T>
  /**
   * Runs a write that takes too long to lock its table by dropping an index: indexes are dropped between two attempts, all that
   * may be at fault where the error does not name one. The write must hold nothing then that readers of the table wait for.
   *
   * @param turn as in `repeatShort`
   */
  repeatLong<T>(write: () => Promise<T>, turn?: Turn): Promise<T>
}

/** See `RefusedValues`. */
export function createRefusedValues({ connection, schema, source, all, refusedBy }: Place): RefusedValues {
  /** Statements that have failed here, by the errors that users are shown. A write may also fail in another database. */
  const failures = new WeakMap<AppError, string | null>()
  /** Indexes that are being dropped, by name. */
  const drops = new Map<string, Promise<void>>()

  const explained = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error) => {
      const told = explainPostgres(error, source)
      if (told instanceof AppError && told !== error) failures.set(told, statementOf(error))
      throw told
    })

  /** The automatic indexes of the tables that the statement of an error names. */
  async function suspectedIndexes({ withExpressions, statement }: SuspectedIndexes): Promise<string[]> {
    const rows = await all<{ name: string }>({
      sql: `select c.relname::text as name from pg_index i join pg_class c on c.oid = i.indexrelid
        join pg_class t on t.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1 and starts_with(c.relname::text, $2)
          and ($3::text is null or strpos($3, '"' || replace(t.relname::text, '"', '""') || '"') > 0)
          ${withExpressions ? 'and i.indexprs is not null' : ''}
        order by c.oid`,
      params: [schema, NAME_PREFIX, statement],
    })
    return rows.map(({ name }) => name)
  }

  /** Drops an index without blocking writers, once for all writes that it refuses meanwhile. */
  function dropOnce(name: string): Promise<void> {
    const running = drops.get(name)
    if (running) return running
    const drop = explained(dropIndex(connection, schema, name)).finally(() => drops.delete(name))
    drops.set(name, drop)
    return drop
  }

  async function repeated<T>(
    write: (without: readonly string[]) => Promise<T>,
    { isLong, turn = {} }: { isLong: boolean; turn?: Turn },
  ): Promise<T> {
    const dropped: RefusedIndexes[] = []
    let suspects: string[] = []
    let reason = ''
    const drop = async (names: readonly string[], why: string | null) => {
      for (const name of names) {
        const refused = { names: [name], reason: why }
        const drop = dropOnce(name)
        await waitFor(drop, turn).catch((error) => {
          // It goes on without the write. One that fails is begun again by the next write that the index refuses.
          drop.then(() => refusedBy?.(refused)).catch(() => undefined)
          throw error
        })
        dropped.push(refused)
      }
    }
    try {
      for (let attempts = 0; ; attempts++) {
        try {
          if (suspects.length === 0) return await write([])
          const found = await writeWithoutOne(write, suspects)
          // One of several that had to go together: whoever builds them again finds which.
          dropped.push({ names: found.without, reason: found.without.length === 1 ? reason : null })
          return found.result
        } catch (error) {
          if (attempts === MAX_DROPPED) throw error
          if (error instanceof IndexInUse) {
            await drop(suspects, null)
            suspects = []
            continue
          }
          const refusal = refusalIn(error)
          if (typeof refusal === 'string') {
            await drop([refusal], reasonOf(error))
            continue
          }
          if (refusal === null || suspects.length > 0) throw error
          const found = await suspectedIndexes(refusal)
          if (found.length === 0) throw error
          if (isLong) {
            await drop(found, null)
            continue
          }
          suspects = found
          reason = reasonOf(error)
        }
      }
    } finally {
      // Whoever builds them again finds what the write has stored.
      for (const each of dropped) refusedBy?.(each)
    }
  }

  /**
   * Repeats a write without one index after the other, then without all of them.
   *
   * @throws IndexInUse if readers keep the indexes; the last error of the write
   */
  async function writeWithoutOne<T>(
    write: (without: readonly string[]) => Promise<T>,
    names: string[],
  ): Promise<{ result: T; without: string[] }> {
    for (const without of names.length === 1 ? [] : names.map((name) => [name])) {
      try {
        return { result: await write(without), without }
      } catch (error) {
        const refusal = refusalIn(error)
        if (refusal === null || typeof refusal === 'string') throw error
      }
    }
    return { result: await write(names), without: names }
  }

  /** As `refusingIndex`; null also for errors of other databases. */
  function refusalIn(error: unknown): string | SuspectedIndexes | null {
    if (!(error instanceof AppError) || !failures.has(error)) return null
    return refusingIndex(error, failures.get(error) ?? null, source === OWN_DATABASE)
  }

  return {
    explained,
    repeatShort: (write, turn) => repeated(write, { isLong: false, turn }),
    repeatLong: (write, turn) => repeated(write, { isLong: true, turn }),
  }
}

/** Waits for work that goes on if its caller leaves. @throws BASE_BUSY after `patienceMs`; the reason of the signal */
async function waitFor(work: Promise<void>, { patienceMs, signal }: Turn): Promise<void> {
  const { promise: left, reject: leave } = Promise.withResolvers<never>()
  const onAbort = () => leave(signal?.reason)
  const timer =
    patienceMs === undefined ? undefined : setTimeout(() => leave(baseBusy(patienceMs)), patienceMs)
  if (signal?.aborted) onAbort()
  signal?.addEventListener('abort', onAbort)
  try {
    await Promise.race([work, left])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

/** The statement of a driver's error, which the driver notes. */
const statementOf = (error: unknown): string | null =>
  error instanceof Error && 'query' in error && typeof error.query === 'string' ? error.query : null

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Automatic indexes of which one may have refused a statement: all, or those over expressions. */
interface SuspectedIndexes {
  withExpressions: boolean
  /** Null if it is not known. */
  statement: string | null
}

/** The automatic index that refused a statement, or those of which one may have. Null for any other error. */
function refusingIndex(
  { message, details }: AppError,
  statement: string | null,
  isOwn: boolean,
): string | SuspectedIndexes | null {
  // On Citus, with the number of the shard.
  const named = /"(sheaf_auto_[a-z0-9]+)(?:_\d+)?"/
  const name = message.includes('index row size ') ? named.exec(message)?.[1] : undefined
  if (name !== undefined) return name
  if (message.includes('index row requires ')) return { withExpressions: false, statement }
  // An expression for which the value is out of range, or too long. A connected database refuses values for reasons of
  // its own, and none of its indexes computes a formula.
  return isOwn && details?.failure === 'value' ? { withExpressions: true, statement } : null
}
