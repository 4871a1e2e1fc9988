/** The kind of job that exports are. */
export const EXPORT_JOB = 'data-export'

/** The file that an export has written: its signed address, which expires, and its name. */
export interface ExportedFile {
  url: string
  name: string
}

/** Has the browser download the file. */
export function saveFile({ url, name }: ExportedFile): void {
  const link = document.createElement('a')
  link.href = `/${url}`
  link.download = name
  document.body.append(link)
  link.click()
  link.remove()
}
