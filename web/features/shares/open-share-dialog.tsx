import { lazyPart } from '../../navigation/lazy-screen.ts'
import { openDialog } from '../../ui/open-dialog.tsx'
import type { ShareTarget } from './share-target.ts'

const DiagramShareDialog = lazyPart(() => import('./share-dialog.tsx'), 'DiagramShareDialog')
const ShareDialog = lazyPart(() => import('./share-dialog.tsx'), 'ShareDialog')

/** Opens the dialog of public links. */
export const openShareDialog = (target: ShareTarget): void =>
  void openDialog((close) => <ShareDialog {...target} onClose={close} />)

/** Opens the dialog of the public link to the diagram of a source. */
export const openDiagramShare = (sources: readonly { id: string; title: string }[], title: string): void =>
  void openDialog((close) => <DiagramShareDialog sources={sources} title={title} onClose={close} />)
