import './thread-functions.ts';
import '../../../workers/webllm.ts';
