/** What XML cannot hold is written as the format has it, `_x0007_` (ECMA-376, 22.4.2.4). */
export const escapeXml = (text: string): string =>
  text
    .replace(/_x[0-9A-Fa-f]{4}_/g, (code) => `_x005F${code}`)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, codeOf)
    .replace(/[&<>"\r]/g, (sign) => ENTITIES[sign] ?? sign)
    .toWellFormed()

const codeOf = (sign: string) => `_x${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '_x000D_',
}
