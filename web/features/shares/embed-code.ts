/** HTML that shows a public page within another site. */
export const embedCode = (address: string, title: string): string =>
  `<iframe src="${escapeHtml(address)}" title="${escapeHtml(title)}" width="100%" height="700" ` +
  'style="border: 1px solid #e3e6eb; border-radius: 8px" allow="clipboard-write" loading="lazy"></iframe>'

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
