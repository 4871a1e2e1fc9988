import { Download } from 'lucide-react'
import { useState } from 'react'
import { m } from '../../../messages.gen.ts'
import { fetchSignedIn } from '../../../session/index.ts'
import { showError } from '../../../ui/attempt.ts'
import { Button } from '../../../ui/button.tsx'
import { openMenu } from '../../../ui/menu.tsx'
import { saveBlob } from '../../../ui/save-file.ts'

const FORMATS = [
  { type: 'csv', extension: 'csv', label: () => m.shares_csv() },
  { type: 'excel', extension: 'xlsx', label: () => m.shares_excel_xlsx() },
  { type: 'json', extension: 'json', label: () => m.shares_json() },
  { type: 'ndjson', extension: 'ndjson', label: () => m.shares_ndjson() },
]

/** Downloads the records of a link; `address` is the export's URL without the format at its end. */
export function DownloadButton({ address, title }: { address: string; title: string }) {
  const [isBusy, setBusy] = useState(false)

  async function download(type: string, extension: string) {
    setBusy(true)
    try {
      const answer = await fetchSignedIn(`${address}/${type}`)
      if (!answer.ok) {
        const { message, msg } = (await answer.json()) as { message?: string; msg?: string }
        throw new Error(message ?? msg ?? m.shares_file_create_failed())
      }
      saveBlob(await answer.blob(), `${title}.${extension}`)
    } catch (error) {
      showError(error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <Button
      size="small"
      icon={Download}
      busy={isBusy}
      aria-haspopup="menu"
      data-testid="share-download"
      onClick={(event) =>
        openMenu(
          event.currentTarget,
          FORMATS.map(({ type, extension, label }) => ({
            kind: 'action',
            label: label(),
            run: () => void download(type, extension),
          })),
          m.common_download(),
        )
      }
    >
      {m.common_download()}
    </Button>
  )
}
