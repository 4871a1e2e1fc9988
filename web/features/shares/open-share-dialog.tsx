import { lazyDialog } from '../../ui/lazy-dialog.ts'
import { openDialog } from '../../ui/open-dialog.tsx'
import type { ShareTarget } from './share-target.ts'

const DiagramShareDialog = lazyDialog(() => import('./share-dialog.tsx'), 'DiagramShareDialog')
const ShareDialog = lazyDialog(() => import('./share-dialog.tsx'), 'ShareDialog')

/** Opens the public links of a view and its base. */
export const openShareDialog = (target: ShareTarget): void =>
  void openDialog((close) => <ShareDialog {...target} onClose={close} />)

/** Opens the public links of the diagrams of a base. */
export const openDiagramShare = (sources: readonly { id: string; title: string }[], title: string): void =>
  void openDialog((close) => <DiagramShareDialog sources={sources} title={title} onClose={close} />)
