import { UserRound } from 'lucide-react'
import { m } from '../../../messages.gen.ts'
import { isVisitorPage } from '../../../session/visitor.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { openMenu } from '../../../ui/menu.tsx'
import { useIsNarrow } from '../../layout/sidebar-state.ts'
import styles from './kept-changes.module.css'
import type { KeptBecause } from './view-changes.ts'
import type { ViewState } from './view-state.ts'

export interface KeptChangesProps {
  state: ViewState
  /** True if the user may create views; absent if unsaved changes cannot become a view. */
  mayCreate?: boolean
}

/** Bar for unsaved changes that only the user sees, with buttons to save where allowed. */
export function KeptChanges({ state, mayCreate = false }: KeptChangesProps) {
  const isNarrow = useIsNarrow()
  if (!state.hasKept) return null
  const { keptBecause, saveKept, saveKeptAsNew, discardKept } = state
  const reason = reasonFor(keptBecause)
  const label = m.views_unsaved_view_changes()
  if (isNarrow) {
    return (
      <IconButton
        icon={UserRound}
        size="small"
        label={label}
        className={styles.button}
        aria-haspopup="menu"
        onClick={(event) =>
          openMenu(
            event.currentTarget,
            [
              {
                kind: 'action',
                label: m.views_save_for_everyone(),
                run: saveKept,
                disabledReason: keptBecause === null ? null : reason,
              },
              ...(mayCreate
                ? ([{ kind: 'action', label: m.views_save_as_new_view(), run: saveKeptAsNew }] as const)
                : []),
              { kind: 'action', label: m.views_discard(), run: discardKept },
            ],
            label,
          )
        }
      />
    )
  }
  return (
    <div className={styles.kept} role="status" data-testid="kept-changes">
      <span className={styles.text} data-tip={reason}>
        <UserRound size={13} aria-hidden />
        {label}
      </span>
      {keptBecause === null && (
        <Button size="small" variant="ghost" onClick={saveKept}>
          {m.views_save_for_everyone()}
        </Button>
      )}
      {mayCreate && keptBecause !== null && (
        <Button size="small" variant="ghost" onClick={saveKeptAsNew}>
          {m.views_save_as_new_view()}
        </Button>
      )}
      <Button size="small" variant="ghost" onClick={discardKept}>
        {m.views_discard()}
      </Button>
    </div>
  )
}

function reasonFor(because: KeptBecause | null): string {
  switch (because) {
    case 'role':
      if (isVisitorPage) return m.views_changes_kept_until_leave_page()
      return m.views_role_cant_change_view_everyone()
    case 'locked':
      return m.views_view_locked_changes_kept_until()
    case 'personal':
      return m.views_someone_elses_personal_view_changes()
    case null:
      return m.views_changes_visible_only_until_save()
  }
}
