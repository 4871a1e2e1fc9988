import { useState } from 'react'
import type { Base, View } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { m } from '../../messages.gen.ts'
import { trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { BaseShare } from './base-share.tsx'
import styles from './share-dialog.module.css'
import { type ShareTarget, shareRefusal } from './share-target.ts'
import { ViewShare } from './view-share.tsx'

/** The public links of a view and of its base. */
export function ShareDialog({ baseId, tableId, viewId, onClose }: ShareTarget & { onClose: () => void }) {
  const base = trpc.bases.get.useQuery({ baseId })
  const schema = trpc.schema.table.useQuery({ tableId: tableId ?? '' }, { enabled: tableId !== undefined })
  const view = schema.data?.views.find((one) => (viewId ? one.id === viewId : one.isDefault))
  const failed = [base, schema].find((query) => query.error && !query.data)
  const isRead = base.data && (tableId === undefined || schema.data)

  if (failed || !isRead || !base.data) {
    return (
      <Dialog title={m.common_share()} onClose={onClose}>
        {failed ? (
          <ErrorState
            title={m.shares_links_load_failed()}
            error={failed.error}
            onRetry={() => void failed.refetch()}
          />
        ) : (
          <Skeleton height={240} />
        )}
      </Dialog>
    )
  }
  const refusal = shareRefusal(base.data.role)
  return (
    <Dialog title={m.common_share()} onClose={onClose}>
      {refusal ? <Alert>{refusal}</Alert> : <Parts base={base.data} view={view} onClose={onClose} />}
    </Dialog>
  )
}

function Parts({ base, view, onClose }: { base: Base; view: View | undefined; onClose: () => void }) {
  const [part, setPart] = useState<'view' | 'base'>(view ? 'view' : 'base')
  const schema = trpc.schema.table.useQuery({ tableId: view?.tableId ?? '' }, { enabled: view !== undefined })
  const mayShareView = view !== undefined && roleCan(base.role, 'view.share')
  const tabs = [
    ...(mayShareView ? [{ id: 'view', label: m.common_view() } as const] : []),
    ...(roleCan(base.role, 'base.share') ? [{ id: 'base', label: m.common_base() } as const] : []),
  ]
  return (
    <>
      <div
        role="tablist"
        aria-label={m.shares_what_to_share()}
        className={styles.tabs}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return
          event.preventDefault()
          const other = tabs.find(({ id }) => id !== part)
          if (!other) return
          setPart(other.id)
          event.currentTarget.querySelector<HTMLElement>(`[data-part="${other.id}"]`)?.focus()
        }}
      >
        {tabs.map(({ id, label }) => (
          <button
            key={id}
            type="button"
            role="tab"
            data-part={id}
            className={styles.tab}
            aria-selected={part === id}
            tabIndex={part === id ? 0 : -1}
            data-autofocus={part === id || undefined}
            onClick={() => setPart(id)}
          >
            {label}
            <span className={styles.target} dir="auto">
              {id === 'view' ? view?.title : base.title}
            </span>
          </button>
        ))}
      </div>
      {part === 'view' && view && schema.data ? (
        <ViewShare key={view.id} view={view} schema={schema.data} />
      ) : (
        <BaseShare base={base} onClose={onClose} />
      )}
    </>
  )
}
