import { type ReactNode, useState } from 'react'
import { formatBytes } from '../../attachments/format-bytes.ts'
import { localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { api, cache, type Outputs } from '../../trpc.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { CopyDialog } from '../copies/copy-dialog.tsx'

type Summary = NonNullable<Outputs['backups']['list'][number]['summary']>

/** The result of the job; see `BaseRestored`. */
interface Restored {
  title: string
  filesMissing: number
  notRewound: Left[]
}

/** Something that is not as it was at the time; see `NotRewound`. */
interface Left {
  kind: 'table' | 'field' | 'view' | 'records' | 'webhook' | 'comments'
  title: string
  reason: 'purged' | 'changed' | 'connected'
  count?: number
}

/** Bases by their ids and titles. */
export type ListedBases = readonly { id: string; title: string }[]

/** Chooses a base of a backup and restores it as a new one. */
export function RestoreBaseDialog({ backup, onClose }: { backup: Summary; onClose: () => void }) {
  const time = new Date(backup.at).toLocaleString(localeTag(), { dateStyle: 'medium', timeStyle: 'short' })
  return (
    <RestoreDialog
      heading={m.backups_restore_base()}
      bases={backup.bases}
      hint={m.backups_restore_base_hint({ time })}
      titleHint={m.backups_title_default()}
      start={(base) => api.backups.restoreBase.mutate({ backupId: backup.id, ...base })}
      onClose={onClose}
    />
  )
}

/** Chooses a base and a time, and restores the base of that time as a new one. */
export function RestoreToTimeDialog({ bases, onClose }: { bases: ListedBases; onClose: () => void }) {
  const [time, setTime] = useState('')
  const at = new Date(time)
  const isPast = at.getTime() < Date.now()
  return (
    <RestoreDialog
      heading={m.backups_restore_to_time_title()}
      bases={bases}
      hint={m.backups_restore_to_time_hint()}
      titleHint={m.backups_title_default_time()}
      isReady={isPast}
      start={(base) => api.backups.restoreBaseAt.mutate({ ...base, at: at.toISOString() })}
      onClose={onClose}
    >
      <TextField
        label={m.backups_restore_time()}
        type="datetime-local"
        step={1}
        required
        value={time}
        error={time === '' || isPast ? null : m.backups_choose_time()}
        onChange={(event) => setTime(event.target.value)}
      />
    </RestoreDialog>
  )
}

interface RestoreDialogProps {
  heading: string
  bases: ListedBases
  hint: string
  titleHint: string
  isReady?: boolean
  start: (base: { baseId: string; title?: string }) => Promise<{ jobId: string; baseId: string }>
  onClose: () => void
  /** Further fields. */
  children?: ReactNode
}

/** The base, its new title, and the progress of the restore. */
function RestoreDialog({ bases, hint, titleHint, isReady = true, start, ...dialog }: RestoreDialogProps) {
  const [baseId, setBaseId] = useState(bases[0]?.id ?? '')
  const [title, setTitle] = useState('')
  return (
    <CopyDialog
      title=""
      heading={dialog.heading}
      submitLabel={m.backups_restore_new()}
      waiting={m.backups_restoring()}
      progressText={({ done, total }) =>
        m.backups_bytes_restored({ done: formatBytes(done), total: formatBytes(total) })
      }
      isReady={isReady && baseId !== ''}
      start={async () => {
        const wanted = title.trim()
        const started = await start({ baseId, ...(wanted !== '' && { title: wanted }) })
        return {
          jobId: started.jobId,
          async finish(result) {
            await cache.bases.list.invalidate()
            return reportOf(result as Restored)
          },
          remarks: (result) => remarksOn(result as Restored),
          open: () => goTo(paths.base(started.baseId)),
        }
      }}
      onClose={dialog.onClose}
    >
      <SelectField
        label={m.backups_base()}
        help={hint}
        value={baseId}
        onChange={(event) => setBaseId(event.target.value)}
      >
        {bases.map(({ id, title: name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      {dialog.children}
      <TextField
        label={m.backups_title()}
        help={titleHint}
        dir="auto"
        maxLength={200}
        value={title}
        onChange={(event) => setTitle(event.target.value)}
      />
    </CopyDialog>
  )
}

const reportOf = ({ title, filesMissing }: Restored): string =>
  filesMissing === 0
    ? m.backups_restored({ title })
    : m.backups_restored_without({ title, count: String(filesMissing) })

/** What is not as it was. */
function remarksOn({ notRewound }: Restored): string[] {
  const left = (reason: Left['reason'], text: (input: { names: string }) => string): string[] => {
    const names = notRewound.filter((each) => each.reason === reason).map(nameOf)
    return names.length === 0 ? [] : [text({ names: names.join(', ') })]
  }
  return [
    ...left('purged', m.backups_left_purged),
    ...left('changed', m.backups_left_changed),
    ...left('connected', m.backups_left_connected),
  ]
}

const nameOf = ({ kind, title, count }: Left): string =>
  count === undefined ? m.backups_left_part({ kind, title }) : m.backups_left_counted({ kind, title, count })
