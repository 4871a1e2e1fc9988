import { useState } from 'react'
import type { Base } from '../../../src/core/model.ts'
import { m } from '../../messages.gen.ts'
import { type Outputs, trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { ErrorState, Skeleton } from '../../ui/states.tsx'

export interface DeleteBaseDialogProps {
  base: Base
  onClose: () => void
  onConfirm: () => void
}

/** Asks before a base is deleted: names what goes along, and has its name typed where that is more than tables. */
export function DeleteBaseDialog({ base, onClose, onConfirm }: DeleteBaseDialogProps) {
  const [typed, setTyped] = useState('')
  const contents = trpc.records.baseContents.useQuery({ baseId: base.id }, { staleTime: 0 })
  const { data } = contents
  // Nothing is lost with an empty base of one's own.
  const isLight = data !== undefined && data.records === 0 && data.members <= 1 && data.links === 0
  const isReady = data !== undefined && (isLight || typed.trim() === base.title.trim())
  const submit = () => {
    if (!isReady) return
    onClose()
    onConfirm()
  }
  return (
    <Dialog
      title={m.bases_delete_base_confirm({ title: base.title })}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>{m.common_cancel()}</Button>
          <Button type="submit" variant="danger" disabled={!isReady} data-autofocus={isLight || undefined}>
            {m.bases_delete_base()}
          </Button>
        </>
      }
    >
      {contents.error && !data ? (
        <ErrorState
          title={m.bases_contents_of_the_base_count_failed()}
          error={contents.error}
          onRetry={() => void contents.refetch()}
        />
      ) : data === undefined ? (
        <Skeleton height={60} />
      ) : (
        <>
          <p>{m.bases_moves_trash()}</p>
          <ul data-testid="base-contents" style={{ listStyle: 'disc', paddingInlineStart: 20 }}>
            {linesOf(data).map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
          <p>{m.bases_owners_restore_trash_bases_page()}</p>
          {!isLight && (
            <TextField
              label={m.bases_type_title_to_delete_it({ title: base.title })}
              dir="auto"
              autoComplete="off"
              data-autofocus
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          )}
        </>
      )}
    </Dialog>
  )
}

function linesOf(contents: Outputs['records']['baseContents']): string[] {
  const { tables, records, connectedTables, members, links } = contents
  const lines = [
    m.bases_tables_count({ count: tables }),
    m.common_records_count({ count: records }),
    members === 1 ? m.bases_only_member_is_you() : m.bases_members_who_lose_access({ count: members }),
  ]
  if (links > 0) lines.push(m.bases_shared_links_which_stop_working({ count: links }))
  if (connectedTables > 0) {
    lines.push(m.bases_tables_connected_databases_stay_those({ count: connectedTables }))
  }
  return lines
}
