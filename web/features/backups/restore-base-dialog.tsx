import { useState } from 'react'
import { formatBytes } from '../../attachments/format-bytes.ts'
import { localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { api, cache, type Outputs } from '../../trpc.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { CopyDialog } from '../copies/copy-dialog.tsx'

type Summary = NonNullable<Outputs['backups']['list'][number]['summary']>

/** The result of the job; see `BaseRestored`. */
type Restored = { title: string; filesMissing: number }

/** Chooses a base of a backup and restores it as a new one. */
export function RestoreBaseDialog({ backup, onClose }: { backup: Summary; onClose: () => void }) {
  const [baseId, setBaseId] = useState(backup.bases[0]?.id ?? '')
  const [title, setTitle] = useState('')
  const time = new Date(backup.at).toLocaleString(localeTag(), { dateStyle: 'medium', timeStyle: 'short' })
  return (
    <CopyDialog
      title=""
      heading={m.backups_restore_base()}
      submitLabel={m.backups_restore_new()}
      waiting={m.backups_restoring()}
      progressText={({ done, total }) =>
        m.backups_bytes_restored({ done: formatBytes(done), total: formatBytes(total) })
      }
      isReady={baseId !== ''}
      start={async () => {
        const wanted = title.trim()
        const started = await api.backups.restoreBase.mutate({
          backupId: backup.id,
          baseId,
          ...(wanted !== '' && { title: wanted }),
        })
        return {
          jobId: started.jobId,
          async finish(result) {
            await cache.bases.list.invalidate()
            const { title: restored, filesMissing } = result as Restored
            return filesMissing === 0
              ? m.backups_restored({ title: restored })
              : m.backups_restored_without({ title: restored, count: String(filesMissing) })
          },
          open: () => goTo(paths.base(started.baseId)),
        }
      }}
      onClose={onClose}
    >
      <SelectField
        label={m.backups_base()}
        help={m.backups_restore_base_hint({ time })}
        value={baseId}
        onChange={(event) => setBaseId(event.target.value)}
      >
        {backup.bases.map(({ id, title: name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      <TextField
        label={m.backups_title()}
        help={m.backups_title_default()}
        dir="auto"
        maxLength={200}
        value={title}
        onChange={(event) => setTitle(event.target.value)}
      />
    </CopyDialog>
  )
}
