import type { AttachmentItem } from '../../src/core/fields/attachment-item.ts'
import { messageOf } from '../errors.ts'
import { m } from '../messages.gen.ts'
import { toast } from '../ui/toast.ts'
import { signedFile } from './signed-files.ts'

/** Time between two files: browsers drop downloads that come too quickly. */
const PAUSE_MS = 400

/** Saves a file under its name. */
export async function downloadFile(tableId: string, { path, title }: AttachmentItem): Promise<void> {
  if (path === undefined) return
  try {
    const signed = await signedFile(tableId, path)
    if (!signed) return toast.error({ text: m.attachments_name_no_longer_exists({ name: title }) })
    const link = document.createElement('a')
    link.href = signed.url
    link.download = title
    document.body.append(link)
    link.click()
    link.remove()
  } catch (error) {
    toast.error({ text: messageOf(error) })
  }
}

/** Downloads all files of a cell sequentially, except external ones. */
export async function downloadAll(tableId: string, items: readonly AttachmentItem[]): Promise<void> {
  for (const item of items.filter(({ path }) => path !== undefined)) {
    await downloadFile(tableId, item)
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}
