import { type BaseRole, roleCan } from '../../../src/core/roles.ts'
import { t } from '../../i18n.ts'
import { lazyPart } from '../../navigation/lazy-screen.ts'
import { openDialog } from '../../ui/open-dialog.tsx'

const DiagramShareDialog = lazyPart(() => import('./diagram-share-dialog.tsx'), 'DiagramShareDialog')
const ShareDialog = lazyPart(() => import('./share-dialog.tsx'), 'ShareDialog')

/** Why a person may not share; null: they may. */
export const shareRefusal = (role: BaseRole | null): string | null =>
  roleCan(role, 'base.share') || roleCan(role, 'view.share') ? null : t('Only creators and owners can share')

/** What is shared: a view of a table, and the base around it. */
export interface SharePlace {
  baseId: string
  /** Absent where no table is on the screen. */
  tableId?: string
  viewId?: string
}

/** Opens the dialog of public links. */
export const openShareDialog = (place: SharePlace): void =>
  void openDialog((close) => <ShareDialog {...place} onClose={close} />)

/** Opens the dialog of the public link to the diagram of a source. */
export const openDiagramShare = (sources: readonly { id: string; title: string }[], title: string): void =>
  void openDialog((close) => <DiagramShareDialog sources={sources} title={title} onClose={close} />)
