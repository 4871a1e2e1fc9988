/** Lets the browser download a URL under a file name. */
export function saveUrl(url: string, name: string): void {
  const link = document.createElement('a')
  link.href = url
  link.download = name
  document.body.append(link)
  link.click()
  link.remove()
}

/** Lets the browser download bytes under a file name. */
export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  saveUrl(url, name)
  // Revoke only after the download has started.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
