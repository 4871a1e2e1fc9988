import { UserRound } from 'lucide-react'
import { t } from '../../../i18n.ts'
import { isVisitorPage } from '../../../session/visitor.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { openMenu } from '../../../ui/menu.tsx'
import { useIsNarrow } from '../../layout/sidebar-state.ts'
import styles from './kept-changes.module.css'
import type { KeptBecause } from './view-changes.ts'
import type { ViewState } from './view-state.ts'

export interface KeptChangesProps {
  state: ViewState
  /** True where the person may make views; absent: what is kept cannot become one. */
  mayCreate?: boolean
}

/** Says that what one changed is seen by nobody else, and offers to save it where that is allowed. */
export function KeptChanges({ state, mayCreate = false }: KeptChangesProps) {
  const isNarrow = useIsNarrow()
  if (!state.hasKept) return null
  const { keptBecause, saveKept, saveKeptAsNew, discardKept } = state
  const reason = reasonFor(keptBecause)
  const label = t('Unsaved view changes')
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
                label: t('Save for everyone'),
                run: saveKept,
                disabledReason: keptBecause === null ? null : reason,
              },
              ...(mayCreate
                ? ([{ kind: 'action', label: t('Save as new view'), run: saveKeptAsNew }] as const)
                : []),
              { kind: 'action', label: t('Discard'), run: discardKept },
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
          {t('Save for everyone')}
        </Button>
      )}
      {mayCreate && keptBecause !== null && (
        <Button size="small" variant="ghost" onClick={saveKeptAsNew}>
          {t('Save as new view')}
        </Button>
      )}
      <Button size="small" variant="ghost" onClick={discardKept}>
        {t('Discard')}
      </Button>
    </div>
  )
}

function reasonFor(because: KeptBecause | null): string {
  switch (because) {
    case 'role':
      if (isVisitorPage) return t('Your changes are kept until you leave the page.')
      return t(
        'Your role can’t change this view for everyone. Your changes are kept until you leave the page.',
      )
    case 'locked':
      return t('This view is locked. Your changes are kept until you leave the page.')
    case 'personal':
      return t('This is someone else’s personal view. Your changes are kept until you leave the page.')
    case null:
      return t('Your changes are visible only to you until you save them.')
  }
}
