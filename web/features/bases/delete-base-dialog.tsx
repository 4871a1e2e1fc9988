import { useState } from 'react'
import type { Base } from '../../../src/core/model.ts'
import { t, tn } from '../../i18n.ts'
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
      title={t('Delete base “{title}”?', { title: base.title })}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button type="submit" variant="danger" disabled={!isReady} data-autofocus={isLight || undefined}>
            {t('Delete base')}
          </Button>
        </>
      }
    >
      {contents.error && !data ? (
        <ErrorState
          title={t('The contents of the base could not be counted')}
          error={contents.error}
          onRetry={() => void contents.refetch()}
        />
      ) : data === undefined ? (
        <Skeleton height={60} />
      ) : (
        <>
          <p>{t('It moves to the trash with:')}</p>
          <ul data-testid="base-contents" style={{ listStyle: 'disc', paddingInlineStart: 20 }}>
            {linesOf(data).map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
          <p>{t('Owners can restore it from the trash on the Bases page.')}</p>
          {!isLight && (
            <TextField
              label={t('Type “{title}” to delete it', { title: base.title })}
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
    tn('1 table', '{n} tables', tables),
    tn('1 record', '{n} records', records),
    members === 1
      ? t('1 member: you')
      : tn('1 member, who loses access', '{n} members, who lose access', members),
  ]
  if (links > 0)
    lines.push(tn('1 shared link, which stops working', '{n} shared links, which stop working', links))
  if (connectedTables > 0) {
    lines.push(
      tn(
        '1 table of a connected database, which stays in that database',
        '{n} tables of connected databases, which stay in those databases',
        connectedTables,
      ),
    )
  }
  return lines
}
