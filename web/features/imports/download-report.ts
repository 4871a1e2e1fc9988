import { messageOf } from '../../errors.ts'
import { t } from '../../i18n.ts'
import { fetchSignedIn } from '../../session/index.ts'
import { toast } from '../../ui/toast.ts'

/** Saves the report of an import: what is not in the table, with row, column and reason. */
export async function downloadReport(jobId: string, fileName: string): Promise<void> {
  try {
    const answer = await fetchSignedIn(`/api/internal/jobs/${jobId}/report`)
    if (!answer.ok) throw new Error(t('The report is no longer available'))
    const url = URL.createObjectURL(await answer.blob())
    const link = document.createElement('a')
    link.href = url
    link.download = t('{name} - not imported.csv', { name: fileName.replace(/\.[^.]*$/, '') })
    link.click()
    // The browser has taken it over by then.
    setTimeout(() => URL.revokeObjectURL(url), 10_000)
  } catch (error) {
    toast.error({ text: messageOf(error) })
  }
}
