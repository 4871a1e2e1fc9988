import { join } from 'node:path'
import type { UserActor } from '../../src/core/actor.ts'
import { AppError, badRequest } from '../../src/core/errors.ts'
import { createId } from '../../src/core/ids.ts'
import type { Manifest } from '../../src/db/backups/manifest.ts'
import { createToken, openRestoredSchema, reserveSchemas } from '../../src/db/backups/postgres/schemas.ts'
import { openRestoredMetadata, removeFolder } from '../../src/db/backups/restore-backup.ts'
import type {
  BackupConversionTask,
  BackupFilesTask,
  BackupSchemasTask,
  BackupToSchemasTask,
  TaskTarget,
} from '../../src/db/backups/tasks.ts'
import { temporaryName } from '../../src/db/backups/temporary-folder.ts'
import type { MetaReader, MetaStatement } from '../../src/db/meta.ts'
import type { JobContext, JobKind } from '../../src/jobs.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { VERSION } from '../../src/version.ts'
import type { BasesService } from '../bases/index.ts'
import type { CommentRow, CommentsService } from '../comments/index.ts'
import { COPIED_HOOKS, type Copies, isSameDefinition } from '../imports/index.ts'
import { momentIn, type RecordsService } from '../records/index.ts'
import type { NotRewound } from '../schema/index.ts'
import { runInProcess } from './process.ts'
import { changedHooks, commentsAt, type RewoundBase, rewindBase } from './rewind-base.ts'

export const RESTORE_JOB = 'backup-restore-base'

export interface BaseRestoreInput {
  owner: UserActor
  /** Null: the present base is copied. */
  backupId: string | null
  /** The id of the original. */
  baseId: string
  newBaseId: string
  /** The time that it is rewound to, ISO 8601; null: it stays as it is in the backup. */
  at: string | null
  title: string
  /** In the data folder, for restored files. */
  folder: string
  /** Of restored schemas. */
  token: string
}

/** The result of a restore. */
export interface BaseRestored {
  /** Of the new base. */
  id: string
  title: string
  /** Attached files whose content is neither on this server nor in the backup. */
  filesMissing: number
  /** What is not as it was at the time. */
  notRewound: NotRewound[]
}

interface Deps {
  kernel: Pick<Kernel, 'config' | 'sources' | 'log' | 'meta' | 'registry'>
  bases: Pick<BasesService, 'copies' | 'require'>
  copies: Pick<Copies, 'rows'>
  comments: Pick<CommentsService, 'rows'>
  records: Pick<RecordsService, 'attachments' | 'rewindCopy'>
  /** The place of the backups. @throws BAD_REQUEST if it is not set */
  openPlace(): Promise<{ task: TaskTarget; manifest(backupId: string): Promise<Manifest> }>
}

/** A backup whose metadata and base are restored. */
interface OpenBackup {
  reader: MetaReader
  /** The home of the base. */
  home: { file: string } | { schema: string }
  /** Attached files that it has. */
  paths: ReadonlySet<string>
  /** Restores files into the folder. */
  bring(paths: readonly string[]): Promise<void>
  /** Removes restored schemas that are not used. */
  close(): Promise<void>
}

/** Longest part of a title that a new base takes over; a date and a number follow. */
const MAX_KEPT_TITLE = 230

/** Most parts of a base whose names the result of a restore has. */
const MAX_REPORTED = 1000

const homeFile = (baseId: string): string => `bases/${baseId}.db`

/** A base with a file is in it, whatever its former schema has. */
const isInSchema = (
  { postgres = [], files }: Pick<Manifest, 'postgres' | 'files'>,
  baseId: string,
): boolean =>
  postgres.some((schema) => schema.baseId === baseId) && !files.some(({ path }) => path === homeFile(baseId))

/**
 * Checks that a base of a backup can be restored here.
 *
 * @returns its title in the backup
 * @throws BAD_REQUEST for a backup of another version; BASE_NOT_FOUND for a base that is not in it
 */
export function requireRestorable({ summary, files, postgres }: Manifest, baseId: string): string {
  if (summary.version !== VERSION)
    throw badRequest(m.backups_error_other_version({ version: summary.version, current: VERSION }))
  const base = summary.bases.find(({ id }) => id === baseId)
  const hasHome =
    isInSchema({ postgres, files }, baseId) || files.some(({ path }) => path === homeFile(baseId))
  if (!base || !hasHome) throw new AppError('BASE_NOT_FOUND', m.backups_error_no_base())
  return base.title
}

/** @param wanted the title of the new base; null: that of the original with the moment that it is restored to */
export async function planBaseRestore(
  { copies }: Pick<BasesService, 'copies'>,
  {
    original,
    moment,
    wanted,
    ...input
  }: Pick<BaseRestoreInput, 'owner' | 'backupId' | 'baseId' | 'at'> & {
    original: string
    moment: string
    wanted: string | null
  },
): Promise<BaseRestoreInput> {
  const title = wanted ?? `${original.slice(0, MAX_KEPT_TITLE)} ${moment}`
  return {
    ...input,
    newBaseId: createId('base'),
    title: await copies.freeTitle(title.slice(0, MAX_KEPT_TITLE + moment.length + 1)),
    folder: temporaryName(),
    token: createToken(),
  }
}

/** Restores one base of a backup, or of an earlier time, as a new one, which becomes visible when it is complete. */
export function createBaseRestoreJob(deps: Deps): JobKind<BaseRestoreInput> {
  const { kernel, bases, copies, comments, records } = deps
  const { databaseUrl } = kernel.config
  const folderOf = ({ folder }: BaseRestoreInput) => join(kernel.config.dataDir, folder)

  async function restore(input: BaseRestoreInput, context: JobContext): Promise<BaseRestored> {
    const { owner, baseId, newBaseId, title } = input
    const place = await openBackup(input, context)
    try {
      const from = place?.reader ?? kernel.meta.db
      const original = await bases.copies.findIn(from, baseId)
      if (!original) throw new AppError('BASE_NOT_FOUND', m.backups_error_no_base())
      if (input.at !== null && input.at < original.base.createdAt)
        throw badRequest(m.records_error_rewind_no_table({ table: original.base.title }))
      const draft = await bases.copies.begin(owner, original.base, {
        baseId: newBaseId,
        title,
        withSources: true,
        from,
      })
      const read = () =>
        copies.rows.read(baseId, draft, { withViews: true, from, withTrash: input.at !== null })
      const rows = await read()
      let rewound: RewoundBase = { rows, renamed: [], notRewound: [] }
      await kernel.sources.adopt(newBaseId, place ? place.home : { baseId }, async (engine) => {
        if (input.at !== null)
          rewound = await rewindBase(records, {
            owner,
            baseId: newBaseId,
            engine,
            rows,
            sources: original.sources,
            ownSourceId: draft.ownSourceId ?? '',
            moment: await momentIn(engine, original.base.historySince, input.at),
          })
        const own = rewound.rows.tables.filter(({ sourceId }) => sourceId === draft.ownSourceId)
        return { tables: own.map(({ tableName }) => tableName), withData: true, replaced: [] }
      })
      context.signal.throwIfAborted()
      if (!place && !isSameDefinition(rows, await read()))
        throw new AppError('CONFLICT', m.copies_error_base_changed())
      const filesMissing = await restoreAttachments(from, input, place)
      const all = await comments.rows.allIn(from, baseId)
      const discussion =
        input.at === null ? { ...all, notRewound: [] } : commentsAt(all, input.at, rewound.rows.tables)
      const hooks = await kernel.registry.get(COPIED_HOOKS).ofBase(baseId, from)
      context.signal.throwIfAborted()
      await copies.rows.publish({
        owner,
        baseId,
        newBaseId,
        sourceIds: draft.sourceIds,
        rows: rewound.rows,
        withHooks: true,
        hooksAt: input.at,
        from,
        also: (ids) => insertComments(discussion, ids),
      })
      const notRewound = [
        ...rewound.notRewound,
        ...discussion.notRewound,
        ...(input.at === null ? [] : changedHooks(hooks, input.at, rewound)),
      ]
      return { id: newBaseId, title, filesMissing, notRewound: notRewound.slice(0, MAX_REPORTED) }
    } finally {
      await place?.close()
    }
  }

  /** Restores the metadata and the base into the folder, or into schemas. Null without a backup. */
  async function openBackup(
    input: BaseRestoreInput,
    { signal, report }: JobContext,
  ): Promise<OpenBackup | null> {
    const { backupId, baseId } = input
    if (backupId === null) return null
    const { task, manifest } = await deps.openPlace()
    const found = await manifest(backupId)
    const folder = folderOf(input)
    const bring = (paths: readonly string[]): Promise<void> => {
      const wanted = new Set(paths)
      const total = found.files.reduce((sum, { path, size }) => (wanted.has(path) ? sum + size : sum), 0)
      report({ done: 0, total, unit: 'bytes' })
      return runInProcess<void>(
        'backup.files',
        { ...task, backupId, paths, folder } satisfies BackupFilesTask,
        { signal, onProgress: (done) => report({ done }) },
      )
    }
    const paths = new Set(found.files.map(({ path }) => path))
    const conversion: BackupConversionTask = { ...task, backupId, baseId, folder }
    if (databaseUrl === null) {
      if (found.postgres === undefined) await bring(['sheaf.db', homeFile(baseId)])
      else await runInProcess<void>('backup.toFiles', conversion, { signal })
      const { reader, close } = openRestoredMetadata(join(folder, 'sheaf.db'))
      return {
        reader,
        home: { file: join(folder, homeFile(baseId)) },
        bring,
        paths,
        close: async () => close(),
      }
    }
    const isOfFiles = found.postgres === undefined
    const baseIds = isOfFiles || isInSchema(found, baseId) ? [baseId] : []
    const reserved = isOfFiles ? { postgres: [{ baseId: null }, { baseId }] } : found
    const schemas = await reserveSchemas(databaseUrl, reserved, input.token, baseIds)
    try {
      report({ done: 0, unit: 'bytes' })
      if (isOfFiles) {
        const names = { metadata: schemas.metadata, bases: { [baseId]: schemas.base(baseId) } }
        await runInProcess<void>(
          'backup.toSchemas',
          { ...conversion, databaseUrl, schemas: names } satisfies BackupToSchemasTask,
          { signal },
        )
      } else
        await runInProcess<void>(
          'backup.schemas',
          { ...task, databaseUrl, backupId, token: input.token, baseIds } satisfies BackupSchemasTask,
          { signal, onProgress: (done) => report({ done }) },
        )
      if (baseIds.length === 0) await bring([homeFile(baseId)])
      const { reader, close } = await openRestoredSchema(databaseUrl, schemas.metadata)
      return {
        reader,
        home:
          baseIds.length === 0 ? { file: join(folder, homeFile(baseId)) } : { schema: schemas.base(baseId) },
        bring,
        paths,
        async close() {
          await close()
          await schemas.release()
        },
      }
    } catch (error) {
      await schemas.release()
      throw error
    }
  }

  /** Registers the attached files, and stores those again that are gone. @returns the number that cannot be */
  async function restoreAttachments(
    from: MetaReader,
    input: BaseRestoreInput,
    place: OpenBackup | null,
  ): Promise<number> {
    const { attachments } = records
    const pathOf = (file: { path: string }) => `attachments/${attachments.storeKeyOf(file.path)}`
    const used = await attachments.usedIn(from, input.baseId)
    const lost = await attachments.shareKnown(input.newBaseId, used)
    const restorable = lost.filter((file) => place?.paths.has(pathOf(file)))
    if (place && restorable.length > 0) await place.bring(restorable.map(pathOf))
    for (const file of restorable)
      await attachments.keepAgain(input.newBaseId, file, join(folderOf(input), pathOf(file)))
    return lost.length - restorable.length
  }

  /** The comments under new ids. Those in tables that are not restored are left out. */
  function insertComments(
    { comments: all, reactions }: Awaited<ReturnType<CommentsService['rows']['allIn']>>,
    ids: ReadonlyMap<string, string>,
  ): MetaStatement[] {
    const newIds = new Map(all.map(({ id }) => [id, createId('comment')]))
    const rows = all.flatMap((comment): CommentRow[] => {
      const tableId = ids.get(comment.tableId)
      if (tableId === undefined) return []
      const { id, baseId, fieldId, parentId } = comment
      return [
        {
          ...comment,
          id: newIds.get(id) ?? '',
          baseId: ids.get(baseId) ?? '',
          tableId,
          fieldId: fieldId === null ? null : (ids.get(fieldId) ?? null),
          parentId: parentId === null ? null : (newIds.get(parentId) ?? null),
        },
      ]
    })
    const kept = new Set(rows.map(({ id }) => id))
    const reacted = reactions
      .map((reaction) => ({ ...reaction, commentId: newIds.get(reaction.commentId) ?? '' }))
      .filter(({ commentId }) => kept.has(commentId))
    return comments.rows.insertAll(rows, reacted)
  }

  async function abandon(input: BaseRestoreInput): Promise<void> {
    try {
      await bases.copies.abandon(input.newBaseId)
      await records.attachments.forgetBase(input.newBaseId)
    } catch (error) {
      kernel.log.error('a base that was not completely restored could not be removed', error, {
        baseId: input.newBaseId,
      })
    }
  }

  return {
    async run(input, context) {
      try {
        return await restore(input, context)
      } catch (error) {
        await abandon(input)
        if (error instanceof AppError || context.signal.aborted) throw error
        throw badRequest(
          m.backups_error_restore({ reason: error instanceof Error ? error.message : String(error) }),
        )
      } finally {
        await removeFolder(folderOf(input))
      }
    },
    async recover(input) {
      await removeFolder(folderOf(input))
      const found = await bases.require(input.newBaseId).catch((error) => {
        if (error instanceof AppError) return null
        throw error
      })
      if (found) {
        const { id, title } = found
        return { result: { id, title, filesMissing: 0, notRewound: [] } satisfies BaseRestored }
      }
      await abandon(input)
      return null
    },
  }
}
