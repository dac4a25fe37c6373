import { lexer, type Token, type Tokens } from 'marked';
import { createMemo, For, type JSX, Match, Switch } from 'solid-js';

/**
 * Markdown as elements of the page. It is built from marked's tokens, so no HTML string ever reaches the document: HTML in
 * the text is shown as the text it is, and links and pictures are shown but never loaded.
 */
export function Markdown(props: { readonly text: string }) {
  const tokens = createMemo(() => lexer(props.text));
  return (
    <div class="markdown">
      <Blocks tokens={tokens()} />
    </div>
  );
}

function Blocks(props: { readonly tokens: readonly Token[] }) {
  return <For each={props.tokens}>{(token) => block(token)}</For>;
}

function block(token: Token): JSX.Element {
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading': {
      // Headings of the text stand below those of the page.
      return (
        <p class={`heading level-${Math.min(3, (token as Tokens.Heading).depth)}`}>
          <Inline tokens={(token as Tokens.Heading).tokens} text={token.raw} />
        </p>
      );
    }
    case 'list': {
      const list = token as Tokens.List;
      const items = (
        <For each={list.items}>
          {(item) => (
            <li>
              <Blocks tokens={item.tokens} />
            </li>
          )}
        </For>
      );
      return (
        <Switch fallback={<ul>{items}</ul>}>
          <Match when={list.ordered}>
            <ol start={list.start === '' ? 1 : list.start}>{items}</ol>
          </Match>
        </Switch>
      );
    }
    case 'code':
      return <pre>{(token as Tokens.Code).text}</pre>;
    case 'blockquote':
      return (
        <blockquote>
          <Blocks tokens={token.tokens ?? []} />
        </blockquote>
      );
    case 'hr':
      return <hr />;
    case 'text':
      return <Inline tokens={(token as Tokens.Text).tokens} text={(token as Tokens.Text).text} />;
    case 'paragraph':
      return (
        <p>
          <Inline tokens={token.tokens} text={token.raw} />
        </p>
      );
    default:
      return <pre>{token.raw.trimEnd()}</pre>;
  }
}

function Inline(props: { readonly tokens: readonly Token[] | undefined; readonly text: string }) {
  return <For each={props.tokens ?? [{ type: 'raw', raw: props.text } as Token]}>{(token) => inline(token)}</For>;
}

function inline(token: Token): JSX.Element {
  const tokens = 'tokens' in token ? (token.tokens as Token[] | undefined) : undefined;
  const inside = () => <Inline tokens={tokens} text={token.raw} />;
  switch (token.type) {
    case 'strong':
      return <strong>{inside()}</strong>;
    case 'em':
      return <em>{inside()}</em>;
    case 'del':
      return <del>{inside()}</del>;
    case 'codespan':
      return <code>{(token as Tokens.Codespan).text}</code>;
    case 'br':
      return <br />;
    case 'escape':
    case 'text':
      return tokens ? inside() : (token as Tokens.Text).text;
    default:
      return token.raw;
  }
}
