import type { Page } from 'playwright-core'
import type { OpenTable } from './grid-page.ts'

/** A file that a test lets go over the page. */
export interface Given {
  name: string
  type: string
  text: string
}

/** Lets files go over an element, as from the desktop. */
export const drop = (page: Page, selector: string, files: Given[]) =>
  page.evaluate(
    ([where, given]) => {
      const data = new DataTransfer()
      for (const { name, type, text } of given) data.items.add(new File([text], name, { type }))
      const element = document.querySelector(where)
      for (const kind of ['dragover', 'drop']) {
        element?.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }))
      }
    },
    [selector, files] as const,
  )

/** Where a cell stands in the document. */
export const selectorOf = (table: OpenTable, row: number, title: string) =>
  `[role="gridcell"][data-row="${row}"][data-field="${table.schema.fields.find((one) => one.title === title)?.id}"]`

/** Holds back the uploads of a page, as a slow network does. Returns what lets them through. */
export async function holdUploads(page: Page): Promise<() => void> {
  const released = Promise.withResolvers<void>()
  await page.route('**/storage/upload', async (route) => {
    await released.promise
    await route.continue()
  })
  return released.resolve
}
