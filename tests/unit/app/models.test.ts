import { describe, expect, it } from 'vitest';
import { isSuiteJson, kindOfFile } from '../../../src/app/dropped.ts';
import { familiesOf, familyOf, filterCatalogue, NO_FILTER, sizeOf } from '../../../src/app/models/catalogue-filter.ts';
import { licenceOf, modelPage } from '../../../src/app/models/licence.ts';
import { folderFiles, ggufFiles, ggufLink } from '../../../src/app/models/local-files.ts';
import { secondsLeft, shortName } from '../../../src/app/models/transfers.ts';
import { formatModelsUrl, parseModelsUrl } from '../../../src/app/models/url.ts';
import { webLlmCatalogueFor } from '../../../src/lab/models/catalogue.ts';
import { WEBLLM_RECORDS } from '../../../src/models/webllm/catalogue.generated.ts';

const MACHINE = { webgpu: true, software: false, f16: true, bufferBytes: 2 ** 30, memoryGiB: 4 };
const catalogue = webLlmCatalogueFor(MACHINE, ['SmolLM2-360M-Instruct-q4f16_1-MLC']);

describe('the catalogue', () => {
  it('is narrowed by words, family, size and what runs', () => {
    const all = { ...NO_FILTER, runsHere: false };
    expect(filterCatalogue(catalogue, all)).toHaveLength(catalogue.length);
    const runs = filterCatalogue(catalogue, NO_FILTER);
    expect(runs.length).toBeGreaterThan(0);
    expect(runs.length).toBeLessThan(catalogue.length);
    expect(runs.every(({ fit }) => fit.runs)).toBe(true);
    const found = filterCatalogue(catalogue, { ...all, query: ' QWEN3  0.6b ' });
    expect(found.length).toBeGreaterThan(0);
    expect(found.every(({ id }) => id.startsWith('Qwen3-0.6B'))).toBe(true);
    const tiny = filterCatalogue(catalogue, { ...all, family: 'SmolLM2', size: 'tiny' });
    expect(tiny.every(({ id }) => /^SmolLM2-(135|360)M/.test(id))).toBe(true);
    expect(tiny.filter(({ stored }) => stored).map(({ id }) => id)).toEqual(['SmolLM2-360M-Instruct-q4f16_1-MLC']);
  });

  it('knows families by name, and classes by the number of weights', () => {
    expect(['gemma3-1b-it-q4f16_1-MLC', 'gemma-2-2b-it-q4f16_1-MLC', 'phi-2-q4f16_1-MLC'].map((id) => familyOf({ id }))).toEqual([
      'Gemma',
      'Gemma',
      'Phi',
    ]);
    expect(familiesOf(catalogue)).toContain('Hermes');
    expect(new Set(familiesOf(catalogue).map((name) => name.toLowerCase())).size).toBe(familiesOf(catalogue).length);
    expect(sizeOf({ parameters: 0 })).toBeUndefined();
    expect([0.6e9, 0.7e9, 4e9, 8e9].map((parameters) => sizeOf({ parameters }))).toEqual(['tiny', 'small', 'middle', 'large']);
  });

  it('leads to the page of each model, and claims a licence only where the name tells', () => {
    for (const { model_id, model, model_type } of WEBLLM_RECORDS) if (model_type !== 1) expect(modelPage(model_id)).toBe(model);
    expect(licenceOf('Qwen2.5-0.5B-Instruct-q4f16_1-MLC')).toBe('Apache 2.0');
    expect(licenceOf('Qwen2.5-3B-Instruct-q4f16_1-MLC')).toContain('Research');
    expect(licenceOf('Hermes-3-Llama-3.2-3B-q4f16_1-MLC')).toBe('Llama 3.2 Community License');
    expect(licenceOf('stablelm-2-zephyr-1_6b-q4f16_1-MLC')).toBeUndefined();
  });
});

describe('the address of the models view', () => {
  it('holds filter, try-out and server, and nothing of defaults', () => {
    const url = {
      filter: { query: 'q', family: 'Llama', size: 'small' as const, runsHere: false },
      tried: { id: 'a', runtime: 'own' },
      server: 'http://h/v1',
    };
    const params = Object.fromEntries(Object.entries(formatModelsUrl(url)).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >;
    expect(parseModelsUrl(params)).toEqual(url);
    expect(Object.values(formatModelsUrl(parseModelsUrl({}))).every((value) => value === undefined)).toBe(true);
  });

  it('takes what it does not know for the default', () => {
    expect(parseModelsUrl({ size: 'huge', all: 'yes', q: ['a', 'b'] }).filter).toEqual({ ...NO_FILTER, query: 'a' });
  });
});

describe('files and links', () => {
  const file = (name: string, path = '') => Object.assign(new File(['x'], name), path ? { webkitRelativePath: path } : {}) as File;

  it('takes all parts of a GGUF model, and refuses anything else by name', () => {
    const { name, files } = ggufFiles([file('m-00001-of-00002.gguf'), file('m-00002-of-00002.GGUF')]);
    expect(name).toBe('m-00001-of-00002');
    expect(files.map(({ path }) => path)).toEqual(['m-00001-of-00002.gguf', 'm-00002-of-00002.GGUF']);
    expect(() => ggufFiles([file('m.gguf'), file('readme.md')])).toThrow('"readme.md" is no GGUF file.');
  });

  it('takes a folder with its configuration, by paths below it', () => {
    const folder = [file('mlc-chat-config.json', 'Tiny/mlc-chat-config.json'), file('a.bin', 'Tiny/shards/a.bin')];
    expect(folderFiles(folder)).toMatchObject({ name: 'Tiny', files: [{ path: 'mlc-chat-config.json' }, { path: 'shards/a.bin' }] });
    expect(() => folderFiles([file('a.bin', 'Other/a.bin')])).toThrow('The folder "Other" holds no mlc-chat-config.json.');
  });

  it('makes the file of the page that shows it, and refuses what is no address', () => {
    expect(ggufLink(' https://huggingface.co/a/b/blob/main/c.gguf?x=1#top ')).toBe('https://huggingface.co/a/b/resolve/main/c.gguf?x=1');
    expect(ggufLink('https://other.example/blob/c.gguf')).toBe('https://other.example/blob/c.gguf');
    for (const wrong of ['c.gguf', 'ftp://a/c.gguf', 'https://a/c.bin', ''])
      expect(() => ggufLink(wrong)).toThrow('no link to a GGUF file');
  });

  it('knows dropped files by name, and JSON by what it holds', () => {
    expect(['a.GGUF', 'b.csv', 'c.jsonl', 'd.zip', 'e.json'].map(kindOfFile)).toEqual(['model', 'suite', 'suite', 'bundle', undefined]);
    expect([[], { schema: 'nacre.suite/1' }, { schema: 'nacre.experiment/1' }, null, 3].map(isSuiteJson)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('time left of a download', () => {
  const at = (loadedBytes: number, totalBytes: number) => ({ phase: 'download' as const, loadedBytes, totalBytes });

  it('is measured by what came in this session', () => {
    expect(secondsLeft(at(600, 1000), 500, 2000)).toBe(8);
    expect(secondsLeft(at(600, 1000), 500, 500)).toBeUndefined();
    expect(secondsLeft(at(500, 1000), 500, 9000)).toBeUndefined();
    expect(secondsLeft(at(600, 0), 500, 9000)).toBeUndefined();
  });

  it('stands beside a short name', () => {
    expect(shortName('https://a.example/x/model.gguf?download=true')).toBe('model.gguf');
    expect(shortName('Qwen3-0.6B-q4f16_1-MLC')).toBe('Qwen3-0.6B-q4f16_1-MLC');
  });
});
