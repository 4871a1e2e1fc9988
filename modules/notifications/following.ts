import { withoutCaller } from '../../src/caller.ts'
import { AppError } from '../../src/core/errors.ts'
import { notifiesPeople } from '../../src/core/fields/traits.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { RecordsService } from '../records/index.ts'
import type { SchemaReader } from '../schema/index.ts'
import { unlessRefused } from './presenter.ts'
import type { Watches } from './watches.ts'

/** The name of the consumer of the change logs. */
export const CONSUMER = 'notifications'

/** Follows the logs of those bases in which a field notifies people, or somebody watches something. */
export function createFollowing(
  { events, log }: Pick<Kernel, 'events' | 'log'>,
  { feed }: Pick<RecordsService, 'feed'>,
  schema: Pick<SchemaReader, 'load' | 'basesThatNotify'>,
  watches: () => Pick<Watches, 'hasAny' | 'watchedBases'>,
) {
  const isNeeded = async (baseId: string): Promise<boolean> =>
    (await schema.basesThatNotify(baseId)).length > 0 || (await watches().hasAny(baseId))

  /** Follows a base or not, whichever is needed now. */
  async function reconsider(baseId: string): Promise<void> {
    if (await isNeeded(baseId)) {
      await feed.follow(CONSUMER, baseId, { sinceSchemaChange: true })
    } else if (feed.follows(CONSUMER, baseId)) {
      // Somebody may have begun to watch meanwhile.
      await feed.unfollow(CONSUMER, baseId, () => isNeeded(baseId))
    }
  }

  async function afterSchemaChange(baseId: string, tableId: string | null): Promise<void> {
    const model = tableId === null ? null : await unlessRefused(() => schema.load(tableId))
    // Most changes leave everything as it is.
    if (model && model.fields.some(notifiesPeople) === feed.follows(CONSUMER, baseId)) return
    await reconsider(baseId)
  }

  const inBackground = (baseId: string, work: () => Promise<void>): void =>
    withoutCaller(() => {
      work().catch((error) => {
        // A base in the trash, or whose database is away, is looked at again when the server starts.
        if (!(error instanceof AppError))
          log.error('a change log could not be followed', error, { baseId, consumer: CONSUMER })
      })
    })

  events.on('schema.changed', ({ baseId, tableId }) =>
    inBackground(baseId, () => afterSchemaChange(baseId, tableId)),
  )
  // Another server may have ended it while somebody here began to watch.
  events.on('feed.followed', ({ baseId, consumer, isFollowed }) => {
    if (consumer === CONSUMER && !isFollowed) inBackground(baseId, () => reconsider(baseId))
  })

  return {
    reconsider,
    follow: async (baseId: string): Promise<void> => void (await feed.follow(CONSUMER, baseId)),

    /** Follows the bases that need it since an earlier version, or since a server was killed. Call it once the feed runs. */
    async start(): Promise<void> {
      const needed = new Set([...(await schema.basesThatNotify()), ...(await watches().watchedBases())])
      for (const baseId of needed) {
        if (!feed.follows(CONSUMER, baseId)) inBackground(baseId, () => reconsider(baseId))
      }
    },
  }
}
