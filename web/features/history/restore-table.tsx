import { useState } from 'react'
import type { Table } from '../../../src/core/model.ts'
import { messageOf } from '../../errors.ts'
import { localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { api, cache, type Outputs, trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { openDialog } from '../../ui/open-dialog.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.ts'
import { offerUndo } from '../records/undo/undo-commands.tsx'
import styles from './history.module.css'
import { nameOf } from './revert.tsx'

type Left = Outputs['records']['previewTableRestore']['left'][number]
type Moment = { at: string } | { before: number }

/**
 * Opens the dialog that gives the records of a table the state of an earlier time.
 *
 * @param before the entry before which the table is restored; absent: asks for a time
 */
export function openTableRestore(baseId: string, table: Pick<Table, 'id' | 'title'>, before?: number): void {
  openDialog((close) => <RestoreTable baseId={baseId} table={table} before={before} onClose={close} />)
}

interface RestoreTableProps {
  baseId: string
  table: Pick<Table, 'id' | 'title'>
  before: number | undefined
  onClose: () => void
}

function RestoreTable({ baseId, table, before, onClose }: RestoreTableProps) {
  const [chosen, setChosen] = useState(() => localTime(new Date(Date.now() - 3_600_000)))
  const [kept, setKept] = useState<ReadonlySet<string>>(new Set())
  const [isBusy, setBusy] = useState(false)
  const moment: Moment | null = before === undefined ? atTime(chosen) : { before }
  const request = { tableId: table.id, keep: [...kept], ...(moment ?? { before: 1 }) }
  const preview = trpc.records.previewTableRestore.useQuery(request, {
    enabled: moment !== null,
    staleTime: 0,
    retry: false,
    placeholderData: (last) => last,
  })
  const { data, error } = preview
  const isUpToDate = data !== undefined && !preview.isPlaceholderData && error === null
  const time = data ? new Date(data.at).toLocaleString(localeTag()) : ''
  const total = data ? data.added + data.changed + data.deleted : 0

  async function restore() {
    if (!isUpToDate || total === 0) return
    setBusy(true)
    try {
      const { changeId, records } = await api.records.restoreTable.mutate(request)
      onClose()
      void cache.activity.invalidate()
      const text = m.history_table_restored({ count: records, table: table.title })
      if (changeId > 0) offerUndo({ baseId }, text, changeId)
      else toast.success({ text })
    } catch (failure) {
      setBusy(false)
      toast.error({ text: messageOf(failure) })
    }
  }

  return (
    <Dialog
      title={m.history_restore_table_title({ table: table.title })}
      onClose={onClose}
      onSubmit={() => void restore()}
      footer={
        <>
          <Button onClick={onClose}>{m.common_cancel()}</Button>
          <Button type="submit" variant="primary" busy={isBusy} disabled={!isUpToDate || total === 0}>
            {m.history_restore()}
          </Button>
        </>
      }
    >
      <div className={styles.preview} data-testid="restore-table">
        {before === undefined && (
          <TextField
            label={m.history_restore_time()}
            type="datetime-local"
            step={1}
            value={chosen}
            onChange={(event) => setChosen(event.target.value)}
          />
        )}
        {moment === null ? (
          <p>{m.history_restore_time_missing()}</p>
        ) : error ? (
          <Alert>{messageOf(error)}</Alert>
        ) : !data ? (
          <Skeleton height={64} />
        ) : (
          <>
            <p>
              {before === undefined
                ? m.history_restore_as_of({ time })
                : m.history_restore_as_before({ time })}
            </p>
            {total === 0 ? (
              <p>{m.history_restore_nothing()}</p>
            ) : (
              <ul>
                {data.added > 0 && <li>{m.history_revert_adds({ count: data.added })}</li>}
                {data.changed > 0 && <li>{m.history_revert_changes({ count: data.changed })}</li>}
                {data.deleted > 0 && <li>{m.history_revert_deletes({ count: data.deleted })}</li>}
              </ul>
            )}
            {data.purged > 0 && <p>{m.history_restore_purged({ count: data.purged })}</p>}
            <KeptPeople preview={data} kept={kept} onKeep={setKept} />
            {data.left.length > 0 && (
              <>
                <p>{m.history_restore_left()}</p>
                <ul>
                  {data.left.map((field) => (
                    <li key={field.title} dir="auto">
                      {leftText(field)}
                    </li>
                  ))}
                </ul>
              </>
            )}
          </>
        )}
      </div>
    </Dialog>
  )
}

/** Checkboxes of the people whose later changes stay. */
function KeptPeople(props: {
  preview: Outputs['records']['previewTableRestore']
  kept: ReadonlySet<string>
  onKeep: (kept: ReadonlySet<string>) => void
}) {
  const { preview, kept, onKeep } = props
  const byId = new Map(preview.people.map((person) => [person.id, person]))
  const authors = preview.authors.flatMap(({ actorId, records }) =>
    actorId === null ? [] : [{ actorId, records }],
  )
  if (authors.length === 0) return null
  return (
    <fieldset className={styles.people}>
      <legend>{m.history_restore_keep()}</legend>
      {authors.map(({ actorId, records }) => (
        <label key={actorId}>
          <input
            type="checkbox"
            checked={kept.has(actorId)}
            onChange={(event) => {
              const next = new Set(kept)
              if (event.target.checked) next.add(actorId)
              else next.delete(actorId)
              onKeep(next)
            }}
          />
          <span dir="auto">
            {m.history_restore_author({ person: nameOf(byId.get(actorId)), count: records })}
          </span>
        </label>
      ))}
    </fieldset>
  )
}

function leftText({ title: field, reason }: Left): string {
  switch (reason) {
    case 'type':
      return m.history_left_type({ field })
    case 'choices':
      return m.history_left_choices({ field })
    case 'deleted':
      return m.history_left_deleted({ field })
    case 'new-link':
      return m.history_left_new_link({ field })
  }
}

/** The value of a `datetime-local` input. */
const localTime = (date: Date): string =>
  new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)

function atTime(text: string): { at: string } | null {
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? null : { at: date.toISOString() }
}
