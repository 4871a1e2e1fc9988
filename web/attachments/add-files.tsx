import { messageOf } from '../errors.ts'
import { lazyPart } from '../navigation/lazy-screen.ts'
import { openDialog } from '../ui/open-dialog.tsx'
import { toast } from '../ui/toast.ts'
import type { FileTarget } from './file-target.ts'
import type { FileSource } from './send-file.ts'

const UploadTray = lazyPart(() => import('./upload-tray.tsx'), 'UploadTray')

let isTrayOpen = false

/** Uploads files into a cell; a tray at the edge of the page shows their progress. */
export function addFiles(target: FileTarget, sources: readonly FileSource[]): void {
  target.begin()
  import('./uploads.ts')
    .then(({ startUploads }) => {
      startUploads(target, sources)
      showTray()
    })
    .catch((error) => toast.error({ text: messageOf(error) }))
}

function showTray(): void {
  if (isTrayOpen) return
  isTrayOpen = true
  const forget = () => {
    isTrayOpen = false
  }
  openDialog(
    (close) => (
      <UploadTray
        onEmpty={() => {
          forget()
          close()
        }}
      />
    ),
    forget,
  )
}
