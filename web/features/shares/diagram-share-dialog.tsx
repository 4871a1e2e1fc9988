import { useState } from 'react'
import { formatAgo } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { SelectField } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { Switch } from '../../ui/switch.tsx'
import { addressOfShare } from './share-address.ts'
import { SharingAddress } from './share-address-field.tsx'
import styles from './share-dialog.module.css'
import { ShareExpiry } from './share-expiry.tsx'
import { ShareLink } from './share-link.tsx'
import { SharePassword } from './share-password.tsx'
import { useShare } from './use-share.ts'

export interface DiagramShareDialogProps {
  /** The databases of the base, each with a diagram of its own; the first is shared unless another is chosen. */
  sources: readonly { id: string; title: string }[]
  /** Names the base in the code to embed. */
  title: string
  onClose: () => void
}

/** The public link of a diagram. */
export function DiagramShareDialog({ sources, title, onClose }: DiagramShareDialogProps) {
  const [sourceId, setSourceId] = useState(sources[0]?.id ?? '')
  return (
    <Dialog title={m.shares_share_diagram()} onClose={onClose}>
      {sources.length > 1 && (
        <SelectField
          label={m.shares_source()}
          value={sourceId}
          onChange={(event) => setSourceId(event.target.value)}
        >
          {sources.map((source) => (
            <option key={source.id} value={source.id}>
              {source.title}
            </option>
          ))}
        </SelectField>
      )}
      <DiagramShare key={sourceId} sourceId={sourceId} title={title} />
    </Dialog>
  )
}

function DiagramShare({ sourceId, title }: { sourceId: string; title: string }) {
  const state = useShare('erd', sourceId, title)
  const { share, change } = state
  if (state.error && share === undefined) {
    return <ErrorState title={m.shares_link_load_failed()} error={state.error} onRetry={state.retry} />
  }
  if (share === undefined) return <Skeleton height={120} />
  const seen = m.shares_visitors_see_tables_field_names()
  return (
    <div className={styles.part}>
      <Switch
        label={m.shares_public_link()}
        hint={m.shares_anyone_link_view_diagram_without()}
        checked={share !== null}
        onChange={(on) => (on ? change({}) : state.close())}
      />
      {share === null ? (
        <p className={styles.seen}>{seen}</p>
      ) : (
        <>
          <ShareLink address={addressOfShare(share, null)} title={title} onRegenerate={state.regenerate} />
          <p className={styles.seen}>
            {seen}{' '}
            {share.lastVisitAt === null
              ? m.shares_not_opened_yet()
              : m.shares_last_opened_ago({ ago: formatAgo(share.lastVisitAt) })}
          </p>
          <SharingAddress address={addressOfShare(share, null)} share={share} onSave={state.save} />
          <SharePassword hasPassword={share.hasPassword} onSave={state.save} />
          <ShareExpiry expiresAt={share.expiresAt} onSave={state.save} />
        </>
      )}
    </div>
  )
}
