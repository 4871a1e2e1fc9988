/** Types for the part of the package that scripts/messages.ts uses; it ships none. */
declare module '@inlang/plugin-message-format' {
  type Bundle = Parameters<
    typeof import('../node_modules/@inlang/paraglide-js/dist/compiler/compile-bundle.js').compileBundle
  >[0]['bundle']
  type Message = Bundle['messages'][number]
  type Variant = Message['variants'][number]

  export interface Imported {
    bundles: Pick<Bundle, 'id' | 'declarations'>[]
    messages: Pick<Message, 'bundleId' | 'locale' | 'selectors'>[]
    variants: (Pick<Variant, 'matches' | 'pattern'> & { messageBundleId: string; messageLocale: string })[]
  }

  const plugin: {
    importFiles(args: {
      files: { locale: string; content: Uint8Array }[]
      settings: { baseLocale: string; locales: string[] }
    }): Promise<Imported>
  }
  export default plugin
}
